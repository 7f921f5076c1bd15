// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What mean and standard deviation of rectangles and of other windows share on the CPU.
#pragma once
#include <vector>

#include "common/plane.h"
#include "kernels/swofilter/moments_rows.h"
#include "kernels/swofilter/scratch.h"
#include "kernels/swofilter/window.h"

namespace cudascan::swo::sums {

/// Writes results for windows whose sums are known, row by row.
template <typename T>
class Results {
 public:
  Results(Plane<const T> in, Plane<T> out, const Job &, Scratch &);

  /// Makes `y` the row of the pixels that follow.
  void begin_row(int y);
  /// The results of pixels x to x + n - 1, at most kBlock.
  /// @param squares  only looked at for deviations
  void write(int x, int n, const std::uint32_t *sums, const Square<T> *squares);

 private:
  void count_samples(int first_row, int end_row);

  const Plane<const T> in_;
  const Plane<T> out_;
  const Job &job_;
  const bool may_be_empty_;
  std::int32_t *const count_;
  Real<T> *const inverse_;
  std::uint8_t *const unsure_;
  int y_ = 0, first_row_ = -1, end_row_ = -1;  ///< rows of the window that are counted
};

/// Results of windows other than rectangles, of rows [begin, end).
template <typename T>
void filter_mask(Plane<const T> in, Plane<T> out, const Job &, int begin, int end);

}  // namespace cudascan::swo::sums
