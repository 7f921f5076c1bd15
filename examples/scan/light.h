// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <cstdint>
#include <functional>

#include "paper_levels.h"
#include "pixels.h"

namespace cudascan::scan {

/// Evens out the light on pages: divides every level by the level of the paper around it. The
/// paper's level comes from a reduced copy: a closing by 21 mm, then smoothed.
class EvenLight {
 public:
  /// Changes the page. Uses its resolution, or 300 dpi if it is unknown.
  void apply(Pixels &pixels);
  /// @param mend  may change the reduced copy before the paper is measured: its parts that are no
  ///              paper. If it returns false, the page stays as it is.
  /// @return what `mend` returns
  bool apply(Pixels &pixels, const std::function<bool(Image &reduced)> &mend);

 private:
  Image reduced_;
  PaperLevels paper_;
};

/// What makes paper of this level white; 1 is 1 << 10.
std::uint16_t gain_of(std::uint8_t paper);

/// Pixels::divide() in host memory.
void divide_by_paper(Image &page, const Image &paper, int by);

}  // namespace cudascan::scan
