// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The resolution of pages whose files state none, or one that programs write when they know none:
/// 72 or 96 dots per inch. It is estimated from two things:
///
/// - the size of the page: both sides are within 1 % those of A3, A4, A5, letter or legal paper, or
///   of a flatbed of 8.5 inches by 297 mm, upright or lying, at a usual resolution: 75, 100, 150,
///   200, 240, 300, 400, 600 or 1200 dots per inch;
/// - the letters: the median height is that of an x (letters.h), which is 5.2 points in type of 10
///   to 12 points.
///
/// A size that fits counts if the letters agree within a factor of 2.5, or cannot be measured; of
/// several ones, the one next to what the letters say. Otherwise it is the usual resolution next to
/// what the letters say or, if there are none, --resolution. A stated 72 or 96 is kept unless the
/// estimate differs from it by a factor of more than 1.5. docs/scan.md says what this achieves.
#pragma once
#include "letters.h"
#include "steps.h"

namespace cudascan::scan {

/// Settles the resolution of pages. It keeps its memory for the next page.
class ResolutionFinder {
 public:
  /// Sets the resolution of the page, and `resolution` and `resolution_from`.
  /// @return whether it is certain enough to enlarge the page by it
  bool settle(Image &page, const Steps &steps, Findings &found);

 private:
  Letters letters_;
};

/// The estimate for a page of this size.
/// @param letter_height  pixels; 0 = unknown
/// @param from           set to where it is from
/// @return 0 = unknown
double estimated_dpi(int width, int height, double letter_height, const char *&from);

}  // namespace cudascan::scan
