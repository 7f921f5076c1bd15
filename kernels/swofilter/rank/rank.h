// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What the order of a window's samples gives. With the N samples of the window in ascending order,
/// counted from 0:
///
/// | operator           | result                                                                  |
/// |--------------------|-------------------------------------------------------------------------|
/// | median             | number floor(N / 2): the upper one of the two in the middle for even N  |
/// | rank               | number floor(N percentile / 100), the last one for 100                  |
/// | alpha-trimmed-mean | mean, halves up, of what is left without the first and last t (1)       |
/// | mode               | the most frequent sample, the lowest of several                         |
/// | directional-median | the middle one of the sample itself and two of four medians (2)         |
///
/// (1) t = floor(alpha N), or (N - 1) / 2, rounded down, if that is less.
/// (2) The smallest and the largest of the medians of the row, the column and both diagonals
/// through the middle (Arce, McLoughlin, "Theoretical analysis of the max/median filter", IEEE
/// Trans. ASSP 35(1), 1987).
///
/// percentile and alpha count in millionths of the whole, the nearest one. median equals OpenCV's
/// with border = replicate, median, rank and mode equal scikit-image's filters.rank with clip. For
/// directional-median the row has the width and the column the height of the window, the diagonals
/// the smaller of both; its shape has no meaning.
#pragma once
#include "kernels/swofilter/window.h"

namespace cudascan::swo {

/// The number of the sample that median and rank take.
/// @param percentile  in millionths of the whole
CUDASCAN_HD inline int rank_of(int n, std::int64_t percentile) {
  const auto rank = static_cast<int>(n * percentile / 1000000);
  return rank < n ? rank : n - 1;
}

/// How many samples are left out at each end.
/// @param alpha  in millionths of the whole
CUDASCAN_HD inline int trimmed(int n, std::int64_t alpha) {
  const auto t = static_cast<int>(n * alpha / 1000000);
  return 2 * t < n ? t : (n - 1) / 2;
}

/// median, rank, alpha-trimmed-mean, mode and directional-median.
template <typename T>
void rank(Cpu &, Plane<const T> in, Plane<T> out, const Job &);
template <typename T>
void rank(Cuda &, Plane<const T> in, Plane<T> out, const Job &);

}  // namespace cudascan::swo
