// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Results from the sorted samples of a window. The N samples are in ascending order, counted from
/// 0:
///
/// | operator           | result                                                                 |
/// |--------------------|------------------------------------------------------------------------|
/// | median             | number floor(N / 2): the upper one of the two middle ones if N is even |
/// | rank               | number floor(N percentile / 100), the last one for 100                 |
/// | alpha-trimmed-mean | mean without the first and last t samples, halves rounded up           |
/// | mode               | the most frequent sample; of several, the lowest                       |
/// | directional-median | the middle one of the smallest and the largest of four medians and the |
/// |                    | sample itself                                                          |
///
/// t = floor(alpha N), but at most floor((N - 1) / 2). The four medians are those of the row, the
/// column and both diagonals through the middle (Arce, McLoughlin, "Theoretical analysis of the
/// max/median filter", IEEE Trans. ASSP 35(1), 1987).
///
/// percentile and alpha are rounded to millionths of the whole. median equals OpenCV's with border
/// = replicate; median, rank and mode equal scikit-image's filters.rank with clip. For
/// directional-median the row has the width and the column the height of the window, the diagonals
/// have the smaller of both; the shape is ignored.
#pragma once
#include "kernels/swofilter/window.h"

namespace cudascan::swo {

/// The number of the sample for median and rank.
/// @param percentile  in millionths of the whole
CUDASCAN_HD inline int rank_of(int n, std::int64_t percentile) {
  const auto rank = static_cast<int>(n * percentile / 1000000);
  return rank < n ? rank : n - 1;
}

/// The number of samples left out at each end.
/// @param alpha  in millionths of the whole
CUDASCAN_HD inline int trimmed(int n, std::int64_t alpha) {
  const auto t = static_cast<int>(n * alpha / 1000000);
  return 2 * t < n ? t : (n - 1) / 2;
}

/// median, rank, alpha-trimmed-mean, mode and directional-median.
template <typename T>
void rank(Cpu &, Plane<const T> in, Plane<T> out, const FilterJob &);
template <typename T>
void rank(Cuda &, Plane<const T> in, Plane<T> out, const FilterJob &);

}  // namespace cudascan::swo
