// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Walks through the rows and columns of a tile (tile.cuh), several at a time.
#pragma once
#include <cuda_runtime.h>

#include "kernels/base/warp_sums.cuh"
#include "kernels/swofilter/geodesic/cells.cuh"
#include "kernels/swofilter/geodesic/work.cuh"

namespace cudascan::swo {

inline constexpr int kTileStrip = 8;  ///< rows, or columns, that are walked through at a time

/// Where both walks begin, and the last row or column that each of them has to look at, counted in
/// its direction.
struct TileWay {
  int first, last;
  __device__ explicit TileWay(const Span &where)
      : first(min(where.first, kTile - 1 - where.last) / kTileStrip * kTileStrip),
        last(max(where.last, kTile - 1 - where.first) + 1) {}
  /// Adds the strips at `i` to a span, if there was a change; returns whether to walk on.
  __device__ bool go_on(int i, bool change, Span &span) const {
    if (__any_sync(kWholeWarp, change)) {
      span |= {min(i, kTile - kTileStrip - i), max(i, kTile - kTileStrip - i) + kTileStrip - 1};
      return true;
    }
    return i + kTileStrip <= last;
  }
};

/// Four cells of a row: the even columns and the odd ones.
template <typename T>
struct alignas(2 * sizeof(typename GrowthCells<T>::Pair)) TileQuad {
  typename GrowthCells<T>::Pair even, odd;
};

/// Levels of a quad, or their changes, among other bits.
template <typename T>
struct TileLevels {
  unsigned even = 0, odd = 0;

  __device__ unsigned change() const { return (even | odd) & GrowthCells<T>::kBits; }
  __device__ void add_change(const TileQuad<T> &before, const TileLevels &after) {
    even |= GrowthCells<T>::markers(before.even) ^ after.even;
    odd |= GrowthCells<T>::markers(before.odd) ^ after.odd;
  }
};
/// Lets markers grow into the cells of the next row; the results are the markers of that row.
/// @tparam eight  also to diagonal neighbours
template <typename T, bool eight>
__device__ void go_on_to(const TileQuad<T> &cells, TileLevels<T> &from) {
  const unsigned even = GrowthCells<T>::markers(cells.even),
                 odd = GrowthCells<T>::markers(cells.odd);
  const unsigned even_masks = GrowthCells<T>::masks(cells.even),
                 odd_masks = GrowthCells<T>::masks(cells.odd);
  if constexpr (eight) {
    grow_inside(even, even_masks, odd, odd_masks, from.even, from.odd);
  } else {
    from = {grow(even, even_masks, from.even), grow(odd, odd_masks, from.odd)};
  }
}

/// A strip of columns of this lane's two rows, in the order of walking.
/// @tparam step  1 to the right, -1 to the left
template <typename T, int step>
struct TileColumns {
  using Pair = typename GrowthCells<T>::Pair;
  using Quad = TileQuad<T>;

  Quad *upper, *lower;
  Pair cells[kTileStrip];      ///< of both rows
  unsigned after[kTileStrip];  ///< markers of these cells

  /// @param upper, lower  the first quads of both rows
  __device__ TileColumns(Quad *upper, Quad *lower) : upper(upper), lower(lower) {
#pragma unroll
    for (int k = 0; k < kTileStrip; k += 4) {
      Quad a = upper[step * k / 4], b = lower[step * k / 4];
      GrowthCells<T>::transpose(a.even, b.even);
      GrowthCells<T>::transpose(a.odd, b.odd);
      cells[at(k, 0)] = a.even;
      cells[at(k, 1)] = a.odd;
      cells[at(k, 2)] = b.even;
      cells[at(k, 3)] = b.odd;
    }
  }
  /// Lets a marker grow through the strip; returns what changes.
  __device__ unsigned go_through(unsigned &from) {
    unsigned change = 0;
#pragma unroll
    for (int k = 0; k < kTileStrip; ++k) {
      const unsigned before = GrowthCells<T>::markers(cells[k]);
      after[k] = from = grow(before, GrowthCells<T>::masks(cells[k]), from);
      change |= before ^ from;
    }
    return change & GrowthCells<T>::kBits;
  }
  /// The changes in a column.
  __device__ unsigned change(int k) const {
    return (GrowthCells<T>::markers(cells[k]) ^ after[k]) & GrowthCells<T>::kBits;
  }
  __device__ void put_back() const {
#pragma unroll
    for (int k = 0; k < kTileStrip; k += 4) {
      Quad a{cell(k, 0), cell(k, 1)}, b{cell(k, 2), cell(k, 3)};
      GrowthCells<T>::transpose(a.even, b.even);
      GrowthCells<T>::transpose(a.odd, b.odd);
      upper[step * k / 4] = a;
      lower[step * k / 4] = b;
    }
  }

 private:
  __device__ static int at(int k, int column) {
    return k + (step > 0 ? column : 3 - column);
  }
  __device__ Pair cell(int k, int column) const {
    return GrowthCells<T>::with(cells[at(k, column)], after[at(k, column)]);
  }
};

}  // namespace cudascan::swo
