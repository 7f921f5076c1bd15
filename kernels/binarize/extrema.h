// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Extrema of windows on the CPU, clipped at the border of the image. Along a row, each step makes
/// segments up to five times as long. Down the columns they use the method of van Herk, Pattern
/// Recognition Letters 13(7), 1992: rows are processed in blocks as high as the window, so a window
/// is always the end of one block and the beginning of the next.
#pragma once
#include <algorithm>
#include <limits>
#include <vector>

#include "kernels/binarize/memory.h"

namespace cudascan::binarize {

/// The sample that changes no extremum.
template <typename T>
constexpr T neutral(bool largest) {
  return largest ? 0 : std::numeric_limits<T>::max();
}

/// Extrema along rows.
template <typename T>
class RowWindows {
 public:
  /// @param size  an odd number of samples
  RowWindows(bool largest, int size, int width, RowMemory &memory)
      : largest_(largest), radius_(std::min(size / 2, width - 1)), width_(width) {
    for (int to = 2 * radius_ + 1; to > 1;) {
      const int from = to <= 5 ? 1 : (to + 3) / 4;
      steps_.insert(steps_.begin(), {to, SegmentParts::of(from, to)});
      to = from;
    }
    row_ = memory.take<T>(width + 2 * radius_);
  }

  void operator()(const T *in, T *out) {
    std::copy_n(in, width_, row_ + radius_);
    // The steps overwrite the neutral samples.
    std::fill_n(row_, radius_, neutral<T>(largest_));
    std::fill_n(row_ + radius_ + width_, radius_, neutral<T>(largest_));
    widen(row_, out);
  }
  /// The same for a row that repeats the samples at its ends outside, which changes no extremum.
  void in_padded(const T *in, T *out) { widen(in - radius_, out); }

 private:
  /// @param from  the row with what is outside
  void widen(const T *from, T *out) {
    const int count = width_ + 2 * radius_;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      T *const to = i + 1 == steps_.size() ? out : row_;
      rows<T>().widen[largest_](from, steps_[i].parts, count - steps_[i].length + 1, to);
      from = to;
    }
    if (steps_.empty()) std::copy_n(from, width_, out);
  }

  struct Step {
    int length;
    SegmentParts parts;
  };
  const bool largest_;
  const int radius_, width_;
  std::vector<Step> steps_;
  T *row_;
};

/// Extrema down columns, row by row.
template <typename T>
class ColumnWindows {
 public:
  ColumnWindows(bool largest, int size, int width, RowMemory &memory)
      : loops_(rows<T>()),
        largest_(largest),
        size_(size),
        width_(width),
        stride_(row_stride(width)),
        block_(memory.take<T>(stride_ * (size + 1))),
        prefix_(memory.take<T>(stride_)) {
    std::fill_n(block_, stride_ * (size + 1), neutral<T>(largest));
  }

  /// Takes a row and writes the extrema of it and the size - 1 rows before, if there were so many.
  void next(const T *row, T *out) {
    loops_.slide[largest_](row, width_, at_ == 0, prefix_, at(at_ + 1), at(at_), out);
    if (++at_ < size_) return;
    for (int i = size_ - 2; i > 0; --i) loops_.combine[largest_](at(i), at(i + 1), width_, at(i));
    at_ = 0;
  }
  /// The same with a row outside the image.
  void next_outside(T *out) {
    if (outside_.empty()) outside_.assign(width_, neutral<T>(largest_));
    next(outside_.data(), out);
  }

 private:
  T *at(int row) const { return block_ + stride_ * row; }

  const BinarizeRows<T> &loops_;
  const bool largest_;
  const int size_, width_;
  const std::size_t stride_;
  /// The rows of this block so far, followed by extrema from a row of the last block to its end,
  /// and a neutral row.
  T *const block_;
  T *const prefix_;  ///< extrema of the rows of this block
  std::vector<T> outside_;
  int at_ = 0;  ///< the place of the next row
};

inline constexpr int kMinExtremaRows = 32;  ///< fewer do not justify a thread
inline constexpr int kStripBytes = 512;     ///< of columns that are processed at once

/// Extrema along the rows of a plane. `out` may be `in`.
template <typename T>
void extrema_along_rows(Cpu &cpu, bool largest, int size, Plane<const T> in, Plane<T> out) {
  cpu.for_bands(in.height, kMinExtremaRows, [&](int begin, int end) {
    RowMemory memory;
    RowWindows<T> windows(largest, size, in.width, memory);
    for (int y = begin; y < end; ++y) windows(in.row(y), out.row(y));
  });
}

/// Calls visit(first column, number of columns) for strips of columns, in several threads.
template <typename T, typename Visit>
void for_strips(Cpu &cpu, int width, const Visit &visit) {
  constexpr int kColumns = kStripBytes / sizeof(T), kUnit = kSlack / sizeof(T);
  cpu.for_bands((width + kUnit - 1) / kUnit, 1, [&](int begin, int end) {
    const int last = std::min(end * kUnit, width);
    for (int x = begin * kUnit; x < last; x += kColumns) visit(x, std::min(kColumns, last - x));
  });
}

/// Extrema down some columns of a plane. `out` may be `in`.
/// @param done  done(y) is called after each row
template <typename T, typename Done>
void extrema_of_strip(bool largest, int size, Plane<const T> in, Plane<T> out, int x, int columns,
                      const Done &done) {
  const int radius = std::min(size / 2, in.height - 1);
  RowMemory memory;
  ColumnWindows<T> windows(largest, 2 * radius + 1, columns, memory);
  std::vector<T> unwanted(columns);
  for (int y = -radius; y < in.height; ++y) {
    T *const to = y < 0 ? unwanted.data() : out.row(y) + x;
    if (y + radius < in.height)
      windows.next(in.row(y + radius) + x, to);
    else
      windows.next_outside(to);
    if (y >= 0) done(y);
  }
}

/// Extrema of squares.
template <typename T>
void square_extrema(Cpu &cpu, bool largest, int size, Plane<const T> in, Plane<T> out) {
  extrema_along_rows(cpu, largest, size, in, out);
  for_strips<T>(cpu, in.width, [&](int x, int columns) {
    extrema_of_strip<T>(largest, size, out, out, x, columns, [](int) {});
  });
}

}  // namespace cudascan::binarize
