// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// An image in device memory whose cells contain the marker and the mask of a pixel, and its tiles
/// in shared memory.
#pragma once
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "common/api.h"
#include "kernels/base/warp_sums.cuh"

namespace cudascan::swo {

/// A cell has the marker and the mask of a pixel. In registers, the markers (and the masks) of two
/// cells are in the halves of a word, as levels. Samples are in the high bits; with 8 bits, the
/// bits below do not matter, because they only decide between equal samples.
template <typename T>
struct GrowthCells;

template <>
struct GrowthCells<std::uint8_t> {
  using Cell = std::uint16_t;                    ///< the marker above the mask
  using Pair = unsigned;                         ///< two neighbours
  static constexpr int kShift = 8;               ///< of samples in levels
  static constexpr unsigned kBits = 0xff00ff00;  ///< of samples in levels

  static __device__ unsigned markers(Pair p) { return p; }
  /// Masks as levels. Bits of the first cell end up below the second cell's mask, where they do not
  /// matter. It is a product, because the multiply unit is otherwise idle.
  static __device__ unsigned masks(Pair p) { return p * 256; }
  /// The pair with new markers.
  static __device__ Pair with(Pair p, unsigned markers) { return __byte_perm(p, markers, 0x7250); }
  /// A pair from the samples in the halves of words.
  static __device__ Pair pair(unsigned markers, unsigned masks) { return markers << 8 | masks; }
  static __device__ unsigned level(Cell c) { return c; }
  static __device__ unsigned marker(Cell c) { return c >> 8; }
  static __device__ unsigned mask(Cell c) { return c & 0xff; }
  static __device__ Cell cell(unsigned marker, unsigned mask) {
    return static_cast<Cell>(marker << 8 | mask);
  }
  /// Two pairs in one column become the columns, and vice versa.
  static __device__ void transpose(Pair &a, Pair &b) {
    const Pair first = __byte_perm(a, b, 0x5410);
    b = __byte_perm(a, b, 0x7632);
    a = first;
  }
  /// Lanes have neighbouring pairs of a row. Even lanes take the first cells of both, odd lanes the
  /// second ones; and vice versa.
  static __device__ Pair fold(Pair p) {
    const Pair other = __shfl_sync(kWholeWarp, p, (threadIdx.x % 32) ^ 1);
    return threadIdx.x % 2 ? __byte_perm(other, p, 0x7632) : __byte_perm(p, other, 0x5410);
  }
};

template <>
struct GrowthCells<std::uint16_t> {
  using Cell = std::uint32_t;  ///< the mask above the marker
  using Pair = uint2;
  static constexpr int kShift = 0;
  static constexpr unsigned kBits = 0xffffffff;

  static __device__ unsigned markers(Pair p) { return __byte_perm(p.x, p.y, 0x5410); }
  static __device__ unsigned masks(Pair p) { return __byte_perm(p.x, p.y, 0x7632); }
  static __device__ Pair with(Pair p, unsigned markers) {
    return {__byte_perm(p.x, markers, 0x3254), __byte_perm(p.y, markers, 0x3276)};
  }
  static __device__ Pair pair(unsigned markers, unsigned masks) {
    return {__byte_perm(markers, masks, 0x5410), __byte_perm(markers, masks, 0x7632)};
  }
  static __device__ unsigned level(Cell c) { return c & 0xffff; }
  static __device__ unsigned marker(Cell c) { return c & 0xffff; }
  static __device__ unsigned mask(Cell c) { return c >> 16; }
  static __device__ Cell cell(unsigned marker, unsigned mask) { return marker | mask << 16; }
  static __device__ void transpose(Pair &a, Pair &b) {
    const Pair first{a.x, b.x};
    b = {a.y, b.y};
    a = first;
  }
  static __device__ Pair fold(Pair p) {
    const unsigned x = __shfl_sync(kWholeWarp, p.x, (threadIdx.x % 32) ^ 1);
    const unsigned y = __shfl_sync(kWholeWarp, p.y, (threadIdx.x % 32) ^ 1);
    if (threadIdx.x % 2) return {y, p.y};
    return {p.x, x};
  }
};

/// The first halves of two words, and the second ones.
__device__ inline unsigned low_halves(unsigned a, unsigned b) {
  return __byte_perm(a, b, 0x5410);
}
__device__ inline unsigned high_halves(unsigned a, unsigned b) {
  return __byte_perm(a, b, 0x7632);
}

/// The second half of a word, and the first one of the next.
__device__ inline unsigned inner_halves(unsigned a, unsigned b) {
  return __byte_perm(a, b, 0x5432);
}

/// A marker after growth from a neighbour.
__device__ inline unsigned grow(unsigned marker, unsigned mask, unsigned neighbour) {
  return __vminu2(mask, __vmaxu2(marker, neighbour));
}

/// The same for 16 lanes with four neighbouring columns each, in words for even and odd columns.
/// They grow from the previous row and its neighbours and replace it.
__device__ inline void grow_inside(unsigned even, unsigned even_masks, unsigned odd,
                                   unsigned odd_masks, unsigned &even_before,
                                   unsigned &odd_before) {
  const int lane = threadIdx.x % 32, half = lane & 16;
  const unsigned left = __shfl_sync(kWholeWarp, odd_before, half + (lane + 15) % 16);
  const unsigned right = __shfl_sync(kWholeWarp, even_before, half + (lane + 1) % 16);
  const unsigned both = __vmaxu2(even_before, odd_before);
  // For the first and the last column of the tile, the missing neighbour is replaced by the one
  // inside.
  const unsigned outer = __byte_perm(left, odd_before, lane == half ? 0x5454 : 0x5432);
  const unsigned last = __byte_perm(even_before, right, lane == half + 15 ? 0x3232 : 0x5432);
  even_before = __vminu2(even_masks, __vimax3_u16x2(outer, both, even));
  odd_before = __vminu2(odd_masks, __vimax3_u16x2(last, both, odd));
}

inline constexpr int kTile = 64;  ///< side of a tile

/// Tiles in rows. Cells around them are 0, so that nothing grows there. The last tiles may have
/// fewer pixels than cells.
template <typename T>
struct CellImage {
  using Cell = typename GrowthCells<T>::Cell;
  using Pair = typename GrowthCells<T>::Pair;

  Cell *cells;        ///< the first one of the first tile
  int columns, rows;  ///< of tiles
  int pitch;          ///< in cells

  /// The cells to the right of a row of tiles are also those to the left of the next row.
  static CUDASCAN_HD int pitch_of(int columns) { return kTile * (columns + 1); }
  static CUDASCAN_HD std::size_t cells_of(int columns, int rows) {
    return std::size_t(pitch_of(columns)) * (kTile * rows + 2) + kTile;
  }
  static CUDASCAN_HD CellImage in(Cell *memory, int columns, int rows) {
    const int pitch = pitch_of(columns);
    return {memory + pitch + kTile, columns, rows, pitch};
  }

  CUDASCAN_HD Cell *row(int y) const { return cells + std::ptrdiff_t{y} * pitch; }
  __device__ Pair &pair(int x, int y) const { return *reinterpret_cast<Pair *>(row(y) + x); }
  /// The marker of a pixel, as a level.
  __device__ unsigned level(int x, int y) const { return GrowthCells<T>::level(row(y)[x]); }
  __device__ unsigned tile_at(int x, int y) const { return y / kTile * columns + x / kTile; }
};

/// The largest of each half and its neighbours, in a row with two cells per lane.
/// @param before, after  the markers before those of lane 0, and after those of lane 31
__device__ inline unsigned spread(unsigned v, unsigned before, unsigned after) {
  const int lane = threadIdx.x % 32;
  unsigned left = __shfl_sync(kWholeWarp, v, (lane + 31) % 32);
  unsigned right = __shfl_sync(kWholeWarp, v, (lane + 1) % 32);
  if (lane == 0) left = before << 16;
  if (lane == 31) right = after;
  return __vmaxu2(v, __vmaxu2(inner_halves(left, v), inner_halves(v, right)));
}

/// The same if lanes have the columns of GrowthCells::fold().
__device__ inline unsigned spread_folded(unsigned v, unsigned before, unsigned after) {
  const int lane = threadIdx.x % 32;
  unsigned left = __shfl_sync(kWholeWarp, v, (lane + 31) % 32);
  unsigned right = __shfl_sync(kWholeWarp, v, (lane + 1) % 32);
  if (lane == 0) left = before << 16;
  if (lane == 31) right = after;
  return __vimax3_u16x2(v, inner_halves(left, right), lane % 2 ? left : right);
}

}  // namespace cudascan::swo
