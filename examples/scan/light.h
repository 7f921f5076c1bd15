// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include "image.h"
#include "paper_levels.h"

namespace cudascan::scan {

/// Evens out the light on pages: divides every level by the level of the paper around it. The
/// paper's level comes from a reduced copy: a closing by 21 mm, then smoothed.
class EvenLight {
 public:
  /// Changes `page`. Uses the resolution of the page, or 300 dpi if it is unknown.
  void apply(Image &page);

 private:
  Image reduced_;
  PaperLevels paper_;
};

}  // namespace cudascan::scan
