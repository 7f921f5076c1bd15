// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Shared CPU code for mean and standard deviation of rectangles and other windows.
#pragma once
#include <algorithm>
#include <vector>

#include "common/plane.h"
#include "kernels/swofilter/moments/rows.h"
#include "kernels/swofilter/scratch.h"
#include "kernels/swofilter/window.h"

namespace cudascan::swo::sums {

/// Writes results from known window sums, row by row, for columns [begin, end).
template <typename T>
class Results {
 public:
  Results(Plane<const T> in, Plane<T> out, const FilterJob &, int begin, int end, ThreadScratch &);

  /// Sets the row of the following pixels.
  void begin_row(int y);
  /// Writes the results of pixels x to x + n - 1, n at most kBlock.
  /// @param squares  only used for deviations
  void write(int x, int n, const std::uint32_t *sums, const Square<T> *squares);

 private:
  void count_row(int row, int sign);
  void count_samples();

  const Plane<const T> in_;
  const Plane<T> out_;
  const FilterJob &job_;
  const Mask &mask_;
  const bool clip_, may_be_empty_;
  const int begin_, end_;
  std::int32_t *const count_;
  Real<T> *const inverse_;
  std::uint8_t *const unsure_;
  int y_ = 0;
  int first_row_ = 0, end_row_ = 0;  ///< rows of the window that are in the image
  std::vector<int> cells_;           ///< of them, in each column
};

/// Writes the sums themselves, in place of Results.
template <typename T>
class SumRows {
 public:
  /// @param squares  without data if they are not needed
  SumRows(Plane<std::uint32_t> sums, Plane<Square<T>> squares) : sums_(sums), squares_(squares) {}

  void begin_row(int y) { y_ = y; }
  void write(int x, int n, const std::uint32_t *sums, const Square<T> *squares) {
    std::copy_n(sums, n, sums_.row(y_) + x);
    if (squares_.data) std::copy_n(squares, n, squares_.row(y_) + x);
  }

 private:
  const Plane<std::uint32_t> sums_;
  const Plane<Square<T>> squares_;
  int y_ = 0;
};

/// Results of windows other than rectangles, for rows [begin, end).
template <typename T>
void filter_mask(Plane<const T> in, Plane<T> out, const FilterJob &, int begin, int end);
/// The same for sums.
template <typename T>
void sum_mask(Plane<const T> in, const SumRows<T> &out, const FilterJob &, int begin, int end);

}  // namespace cudascan::swo::sums
