// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include "image.h"
#include "kernels/exec.h"

namespace cudascan::scan {

/// The level of the paper around each pixel of a reduced page. It keeps its memory for the next
/// page.
class PaperLevels {
 public:
  /// A closing, then a mean.
  /// @param reduced             8 bits
  /// @param closing, smoothing  odd, sides of the windows in pixels of `reduced`
  void measure(const Image &reduced, int closing, int smoothing);
  /// As large as `reduced`, 8 bits.
  const Image &levels() const { return levels_; }

 private:
  Cpu cpu_{1};
  Image closed_, levels_;
};

}  // namespace cudascan::scan
