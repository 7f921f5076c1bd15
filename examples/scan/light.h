// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <functional>

#include "image.h"
#include "paper_levels.h"

namespace cudascan::scan {

/// Evens out the light on pages: divides every level by the level of the paper around it. The
/// paper's level comes from a reduced copy: a closing by 21 mm, then smoothed.
class EvenLight {
 public:
  /// Changes `page`. Uses the resolution of the page, or 300 dpi if it is unknown.
  void apply(Image &page);
  /// @param mend  may change the reduced copy before the paper is measured: its parts that are no
  ///              paper. If it returns false, the page stays as it is.
  /// @return what `mend` returns
  bool apply(Image &page, const std::function<bool(Image &reduced)> &mend);

 private:
  Image reduced_;
  PaperLevels paper_;
};

}  // namespace cudascan::scan
