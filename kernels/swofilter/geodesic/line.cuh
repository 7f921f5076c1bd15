// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// A block grows the marker of a whole row or column of an image at once. A marker that enters a
/// stretch of cells leaves it at the other end as clamp(x, low, high). Two stretches together are
/// such a function, too.
#pragma once
#include "kernels/swofilter/geodesic/cells.cuh"
#include "kernels/swofilter/geodesic/work.cuh"

namespace cudascan::swo {

/// A function of markers: clamp(x, low half, high half).
using Clamp = unsigned;
inline constexpr Clamp kIdentity = 0xffff0000;

/// The function that applies `first` and then `second`.
__device__ inline Clamp then(Clamp first, Clamp second) {
  return __vminu2(high_halves(second, second), __vmaxu2(low_halves(second, second), first));
}
__device__ inline unsigned apply(Clamp f, unsigned x) {
  return min(f >> 16, max(f & 0xffff, x));
}

template <typename T, bool eight>
class GrowthLine {
 public:
  /// Shared memory of the block.
  static constexpr int kBytes = 2 * 32 * sizeof(Clamp);

  /// A row or a column of an image.
  __device__ GrowthLine(const CellImage<T> &image, bool row, unsigned number)
      : image_(image),
        row_(row),
        number_(static_cast<int>(number)),
        length_(kTile * (row ? image.columns : image.rows)) {}

  /// Grows the line; adds the tiles and the crossing lines in which growth would continue.
  __device__ void process(void *memory, const TileNotes &notes, const TileEdges &edges,
                          unsigned step, const Work &across) {
    const int threads = blockDim.x, thread = threadIdx.x;
    const int each = (length_ + threads - 1) / threads;
    const int begin = min(thread * each, length_), end = min(begin + each, length_);
    Clamp forward = kIdentity, backward = kIdentity;
    for (int i = begin; i < end; ++i) {
      const unsigned marker = GrowthCells<T>::marker(at(i)), mask = GrowthCells<T>::mask(at(i));
      const Clamp here = marker | mask << 16;
      forward = then(forward, here);
      backward = then(here, backward);
    }
    unsigned left, right;  // markers that come in
    scan(static_cast<Clamp *>(memory), forward, backward, left, right);
    bool change = false;
    for (int i = begin; i < end; ++i) change |= grow_at(i, left, edges);
    for (int i = end; i-- > begin;) change |= grow_at(i, right, edges);
    if (change)
      for (int i = begin; i < end; ++i) point_out(i, notes, step, across);
  }

 private:
  using Cell = typename GrowthCells<T>::Cell;

  __device__ Cell &at(int i, int aside = 0) const {
    return row_ ? image_.row(number_ + aside)[i] : image_.row(i)[number_ + aside];
  }

  /// Finds the markers that reach this thread's cells from the threads before and after it.
  __device__ void scan(Clamp *totals, Clamp forward, Clamp backward, unsigned &left,
                       unsigned &right) const {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const Clamp lower = __shfl_sync(kWholeWarp, forward, max(lane - distance, 0));
      const Clamp upper = __shfl_sync(kWholeWarp, backward, min(lane + distance, 31));
      if (lane >= distance) forward = then(lower, forward);
      if (lane + distance < 32) backward = then(upper, backward);
    }
    __syncthreads();  // the totals of the previous line have been read
    if (lane == 31) totals[warp] = forward;
    if (lane == 0) totals[32 + warp] = backward;
    __syncthreads();
    left = right = 0;
    for (int w = 0; w < warp; ++w) left = apply(totals[w], left);
    for (int w = warps; --w > warp;) right = apply(totals[32 + w], right);
    const Clamp lower = __shfl_sync(kWholeWarp, forward, max(lane - 1, 0));
    const Clamp upper = __shfl_sync(kWholeWarp, backward, min(lane + 1, 31));
    if (lane > 0) left = apply(lower, left);
    if (lane < 31) right = apply(upper, right);
  }

  /// Grows a cell from `from`, which becomes its marker.
  __device__ bool grow_at(int i, unsigned &from, const TileEdges &edges) const {
    const Cell cell = at(i);
    const unsigned before = GrowthCells<T>::marker(cell), mask = GrowthCells<T>::mask(cell);
    from = min(mask, max(before, from));
    if (from == before) return false;
    const Cell after = GrowthCells<T>::cell(from, mask);
    at(i) = after;
    const int x = row_ ? i : number_, y = row_ ? number_ : i;
    edges.put(image_.tile_at(x, y), x, y, GrowthCells<T>::level(after));
    return true;
  }

  __device__ void point_out(int i, const TileNotes &notes, unsigned step,
                            const Work &across) const {
    const unsigned marker = GrowthCells<T>::marker(at(i));
#pragma unroll
    for (int aside = -1; aside <= 1; aside += 2)
#pragma unroll
      for (int along = eight ? -1 : 0; along <= (eight ? 1 : 0); ++along) {
        const Cell cell = at(i + along, aside);
        if (min(GrowthCells<T>::mask(cell), marker) <= GrowthCells<T>::marker(cell)) continue;
        notes.tell_whole(row_ ? image_.tile_at(i + along, number_ + aside)
                              : image_.tile_at(number_ + aside, i + along),
                         step);
        if (along == 0) across.add(i);
      }
  }

  const CellImage<T> &image_;
  const bool row_;
  const int number_, length_;
};

}  // namespace cudascan::swo
