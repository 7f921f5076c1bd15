// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The resolution of pages whose files state none, or one that programs write when they know none:
/// 72 or 96 dots per inch. It is estimated
///
/// - from the size, if both sides are within 1 % those of A3, A4, A5, letter or legal paper, or of
///   a flatbed of 8.5 inches by 297 mm, upright or lying, at a usual resolution: 75, 100, 150, 200,
///   240, 300, 400 or 600 dots per inch;
/// - otherwise from the letters: their median height is that of an x (letters.h), which is 5.2
///   points in type of 10 to 12 points. The usual resolution next to that is taken.
///
/// If there are no letters, it is --resolution. A stated 72 or 96 is kept unless the estimate
/// differs from it by a factor of more than 1.3. docs/scan.md says what this achieves.
#pragma once
#include <functional>

#include "letters.h"
#include "steps.h"

namespace cudascan::scan {

/// Settles the resolution of pages. It keeps its memory for the next page.
class ResolutionFinder {
 public:
  /// Sets the resolution of the page, and `resolution` and `resolution_from`.
  /// @param need_levels  brings the levels of the page to host memory
  /// @return whether it is certain enough to enlarge the page by it
  bool settle(Image &page, const Steps &steps, const std::function<void()> &need_levels,
              Findings &found);

 private:
  Letters letters_;
};

/// The resolution at which this is the size of usual paper, in pixels; 0 = it is not.
double dpi_of_paper(int width, int height);
/// The usual resolution of letters of this height in pixels; 0 = unknown, as for the height 0.
double dpi_of_letters(double height);

}  // namespace cudascan::scan
