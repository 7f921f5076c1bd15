// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Sums over the windows of the pixels that a thread filters; part of gswo/filter.h.
#pragma once
#include "gswo/window.h"

#if GSWO_CUDA

namespace gswo {

/// Whether the sums of the pixels of a chunk are computed one from another before the filter asks
/// for them. Compilers share what sums of small windows have in common, but take minutes for larger
/// ones.
constexpr bool kSumsChunk = GSWO_SUMS && kRectangle && kCells > 49 && !kScatterExactInFloat;

/// The view of a pixel of a chunk.
template <typename View>
struct ChunkView : View {
  static constexpr bool summed = kSumsChunk;
};

/// The sums of a row of a chunk, from one row to the next.
/// @tparam columns, rows  pixels of a chunk
template <typename View, int columns, int rows>
class ChunkSums {
 public:
  /// @param view  of the first pixel of the chunk
  GSWO_FN explicit ChunkSums(const View &view) : view_(view) {
    if constexpr (kSumsChunk) {
      GSWO_UNROLL for (int i = 0; i < kKept && i < kHeight; ++i) enter(i);
#pragma unroll 1
      for (int i = kKept; i < kHeight; ++i) add(sums_of(i));
    }
  }
  /// Goes on from row i of the chunk to the next.
  GSWO_FN void advance(int i) {
    if constexpr (kSumsChunk) {
      GSWO_UNROLL for (int k = 0; k < columns; ++k) {
        sums_[k] -= static_cast<unsigned>(kept_[i].sums[k]);
        squares_[k] -= static_cast<Squares>(kept_[i].squares[k]);
      }
      enter(i + kHeight);
    }
  }
  GSWO_FN void tell(Known &known, int column) const {
    if constexpr (kSumsChunk) {
      known.sum = sums_[column];
      known.squares = squares_[column];
    }
  }

 private:
  using Level = typename View::Level;
  static constexpr int kWidth = kLeft + kRight + 1, kHeight = kAbove + kBelow + 1;
  /// Rows that leave the windows of some pixels.
  static constexpr int kKept = rows - 1;
  static constexpr bool kInFloat = !Integer<Level>;
  // All sums of a row are exact in these types: 255 levels of 16 bits are less than 2^24.
  static constexpr bool kSquaresInFloat =
      kInFloat && 1ull * kWidth * GSWO_MAXIMUM * GSWO_MAXIMUM <= 1 << 24;
  using Sum = typename Choice<kInFloat, float, unsigned>::Type;
  using Squares = typename Choice<kSquaresFitUnsigned, unsigned, unsigned long long>::Type;
  using RowSquares = typename Choice<kSquaresInFloat, float, Squares>::Type;

  static GSWO_FN RowSquares square(Level level) {
    return static_cast<RowSquares>(level) * static_cast<RowSquares>(level);
  }
  static GSWO_FN RowSquares add_square(Level level, RowSquares to) {
    return multiply_add(static_cast<RowSquares>(level), static_cast<RowSquares>(level), to);
  }

  /// Sums along a row, for the pixels of a row of the chunk.
  struct Row {
    Sum sums[columns];
    RowSquares squares[columns];
  };
  /// @param i  0 for the uppermost row of the first pixels' windows
  GSWO_FN Row sums_of(int i) const {
    const int dy = i - kAbove;
    Sum sum = 0;
    RowSquares squares = 0;
#pragma unroll 16
    for (int dx = -kLeft; dx <= kRight; ++dx) {
      const Level level = view_(dx, dy);
      sum += level;
      squares = add_square(level, squares);
    }
    Row row;
    GSWO_UNROLL for (int k = 0; k < columns; ++k) {
      if (k > 0) {
        const Level last = view_(k - 1 - kLeft, dy), next = view_(k + kRight, dy);
        sum += static_cast<Sum>(next) - static_cast<Sum>(last);
        squares = add_square(next, squares - square(last));
      }
      row.sums[k] = sum;
      row.squares[k] = squares;
    }
    return row;
  }
  GSWO_FN void add(const Row &row) {
    GSWO_UNROLL for (int k = 0; k < columns; ++k) {
      sums_[k] += static_cast<unsigned>(row.sums[k]);
      squares_[k] += static_cast<Squares>(row.squares[k]);
    }
  }
  /// Adds row i and keeps it if it leaves a window later.
  GSWO_FN void enter(int i) {
    const Row row = sums_of(i);
    add(row);
    if (i < kKept) kept_[i] = row;
  }

  const View view_;
  unsigned sums_[columns] = {};
  Squares squares_[columns] = {};
  Row kept_[kKept > 0 ? kKept : 1];
};

}  // namespace gswo

#endif
