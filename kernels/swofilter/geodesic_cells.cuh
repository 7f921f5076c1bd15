// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// An image in device memory whose cells hold the marker and the mask of a pixel, and tiles of it in
/// shared memory.
#pragma once
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "common/api.h"
#include "kernels/warp_sums.cuh"

namespace cudascan::swo {

/// A cell has the marker in its lower half, the mask in its upper one. In registers markers, and masks,
/// of two cells are in the halves of a word.
template <typename T>
struct Cells;

template <>
struct Cells<std::uint8_t> {
  using Cell = std::uint16_t;
  using Pair = unsigned;  ///< two neighbours

  static __device__ unsigned markers(Pair p) { return p & 0x00ff00ff; }
  static __device__ unsigned masks(Pair p) { return p >> 8 & 0x00ff00ff; }
  static __device__ Pair pair(unsigned markers, unsigned masks) { return markers | masks << 8; }
  static __device__ unsigned marker(Cell c) { return c & 0xff; }
  static __device__ unsigned mask(Cell c) { return c >> 8; }
  static __device__ Cell cell(unsigned marker, unsigned mask) {
    return static_cast<Cell>(marker | mask << 8);
  }
};

template <>
struct Cells<std::uint16_t> {
  using Cell = std::uint32_t;
  using Pair = uint2;

  static __device__ unsigned markers(Pair p) { return __byte_perm(p.x, p.y, 0x5410); }
  static __device__ unsigned masks(Pair p) { return __byte_perm(p.x, p.y, 0x7632); }
  static __device__ Pair pair(unsigned markers, unsigned masks) {
    return {__byte_perm(markers, masks, 0x5410), __byte_perm(markers, masks, 0x7632)};
  }
  static __device__ unsigned marker(Cell c) { return c & 0xffff; }
  static __device__ unsigned mask(Cell c) { return c >> 16; }
  static __device__ Cell cell(unsigned marker, unsigned mask) { return marker | mask << 16; }
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

/// A marker that meets a neighbour.
__device__ inline unsigned grow(unsigned marker, unsigned mask, unsigned neighbour) {
  return __vminu2(mask, __vmaxu2(marker, neighbour));
}

/// The same where lanes have two neighbouring columns each, and meet those above and their neighbours.
__device__ inline unsigned grow_inside(unsigned markers, unsigned masks, unsigned above) {
  const int lane = threadIdx.x % 32;
  const unsigned before = __shfl_sync(kWholeWarp, above, (lane + 31) % 32);
  const unsigned after = __shfl_sync(kWholeWarp, above, (lane + 1) % 32);
  // The first and the last column of the warp have themselves for a neighbour.
  const unsigned left = __byte_perm(before, above, lane == 0 ? 0x5454 : 0x5432);
  const unsigned right = __byte_perm(above, after, lane == 31 ? 0x3232 : 0x5432);
  return __vminu2(masks, __vimax3_u16x2(left, right, __vmaxu2(markers, above)));
}

inline constexpr int kTile = 64;  ///< side of a tile

/// Tiles in rows; around them are cells that are 0, so that nothing grows there. There may be fewer
/// pixels than cells in the last tiles.
template <typename T>
struct CellImage {
  using Cell = typename Cells<T>::Cell;
  using Pair = typename Cells<T>::Pair;

  Cell *cells;        ///< the first one of the first tile
  int columns, rows;  ///< of tiles
  int pitch;          ///< in cells

  /// The cells right of a row of tiles are those left of the next.
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
  __device__ unsigned marker(int x, int y) const { return Cells<T>::marker(row(y)[x]); }
  __device__ unsigned tile_at(int x, int y) const { return y / kTile * columns + x / kTile; }
};

/// The largest of each half and its neighbours in a row that lanes have two cells each of.
/// @param before, after  the markers before those of lane 0, and after those of lane 31
__device__ inline unsigned spread(unsigned v, unsigned before = 0, unsigned after = 0) {
  const int lane = threadIdx.x % 32;
  unsigned left = __shfl_sync(kWholeWarp, v, (lane + 31) % 32);
  unsigned right = __shfl_sync(kWholeWarp, v, (lane + 1) % 32);
  if (lane == 0) left = before << 16;
  if (lane == 31) right = after;
  return __vmaxu2(v, __vmaxu2(inner_halves(left, v), inner_halves(v, right)));
}

}  // namespace cudascan::swo
