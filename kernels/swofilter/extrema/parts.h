// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Parts of the stages of extrema.h's operators on the CPU. Along a row, each step makes segments
/// up to four times as long. Down the columns they use the method of van Herk, Pattern Recognition
/// Letters 13(7), 1992: rows are processed in blocks as high as the window, so a window is always
/// the end of one block and the beginning of the next.
#pragma once
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/swofilter/extrema/rows.h"
#include "kernels/swofilter/extrema/stages.h"

namespace cudascan::swo::extremes {

/// Rows with margins on both sides for a window of some width.
template <typename T>
class PaddedRows {
 public:
  PaddedRows(std::unique_ptr<ExtremaRows<T>> source, ColumnRange columns, int radius,
             OutsideSamples<T> outside)
      : source_(std::move(source)),
        reached_(columns.reached(radius)),
        first_(columns.begin - radius),
        last_(columns.end + radius),
        outside_(outside) {}

  /// Samples in a row, and the same with room for loops that run past the end.
  int count() const { return last_ - first_; }
  std::size_t stride() const { return ThreadScratch::stride<T>(count() + 2 * kSlack); }

  /// As in ExtremaRows.
  bool next(T *to) {
    const bool in_image = source_->next(to + (reached_.begin - first_));
    fill(first_, reached_.begin, to);
    fill(reached_.end, last_, to);
    return in_image;
  }

 private:
  void fill(int begin, int end, T *to) const {
    if (outside_.border == SwoFilterBorder::clip || outside_.border == SwoFilterBorder::constant)
      return std::fill(to + (begin - first_), to + (end - first_), outside_.sample);
    for (int x = begin; x < end; ++x)
      to[x - first_] = to[resolve(x, reached_.width, outside_.border) - first_];
  }

  std::unique_ptr<ExtremaRows<T>> source_;
  ColumnRange reached_;
  int first_, last_;
  OutsideSamples<T> outside_;
};

/// Extrema along rows. The last step is left to the caller, who combines it with its own.
class Segments {
 public:
  explicit Segments(int length) {
    for (int to = length; to > 1; to = (to + 3) / 4)
      steps_.insert(steps_.begin(), {to, Widening::of((to + 3) / 4, to)});
    if (!steps_.empty()) last_ = steps_.back().widening, steps_.pop_back();
  }

  const Widening &last() const { return last_; }
  /// @param count  samples in the row
  template <typename T>
  void widen(bool largest, int count, T *row) const {
    for (const Step &step : steps_)
      loops<T>().widen[largest](row, step.widening, count - step.length + 1, row);
  }

 private:
  struct Step {
    int length;
    Widening widening;
  };
  std::vector<Step> steps_;
  Widening last_;
};

/// Extrema down columns. Takes rows of segments that lack only the last step.
template <typename T>
class Downwards {
 public:
  Downwards(bool largest, int height, int columns, ThreadScratch &scratch)
      : loops_(loops<T>()),
        largest_(largest),
        height_(height),
        columns_(columns),
        stride_(ThreadScratch::stride<T>(columns + kSlack)),
        block_(scratch.take<T>(stride_ * height)),
        prefix_(scratch.take<T>(columns)) {}

  /// Takes one of the first height - 1 rows.
  void begin(const T *row, const Widening &last) {
    loops_.widen[largest_](row, last, columns_, at(rows_++));
  }
  /// Takes a row and returns the extrema of it and the rows before.
  void next(const T *row, const Widening &last, T *out) {
    if (height_ == 1) return loops_.widen_exactly[largest_](row, last, columns_, out);
    if (rows_ == height_ - 1) {
      loops_.widen[largest_](row, last, columns_, at(rows_));
      for (int i = height_ - 2; i > 0; --i)
        loops_.combine[largest_](at(i), at(i + 1), columns_, at(i));
      loops_.combine[largest_](at(0), at(1), columns_, out);
      rows_ = 0;
    } else {
      loops_.slide[largest_](row, last, columns_, rows_ == 0, prefix_, at(rows_ + 1), at(rows_),
                             out);
      ++rows_;
    }
  }

 private:
  T *at(int row) const { return block_ + stride_ * row; }

  const ExtremaLoops<T> &loops_;
  const bool largest_;
  const int height_, columns_;
  const std::size_t stride_;
  /// The rows of this block so far, followed by extrema from a row of the last block to its end.
  T *const block_;
  T *const prefix_;  ///< extrema of the rows of this block
  int rows_ = 0;
};

}  // namespace cudascan::swo::extremes
