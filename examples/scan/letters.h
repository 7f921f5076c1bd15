// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include "image.h"
#include "kernels/exec.h"

namespace cudascan::scan {

/// Measures the letters of a page, in whatever direction they lie. It keeps its memory for the next
/// page.
///
/// The page, reduced so that its sides have at most 5000 pixels, is made black and white as
/// binarize.h says, unless it already is. Letters are pieces of connected ink that are at least 4
/// pixels high, not wider than 4 times their height nor higher than 4 times their width. Most
/// letters of a text are as high as an x, so the median height is that of an x, and it hardly
/// changes where some letters touch.
class Letters {
 public:
  /// @return the median height in pixels of the page; 0 if there are too few letters, mostly
  ///         specks, or heights that differ as those of no text
  double height(const Image &page);

 private:
  Cpu cpu_{1};
  Image copy_, black_;
};

}  // namespace cudascan::scan
