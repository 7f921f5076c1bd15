// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Modes of 16-bit samples. A level is at most as frequent in a window as in the tile with its
/// margin. So a window is compared with the levels of its tile, the most frequent first, until the
/// others are too rare. If windows are large, the 256 most frequent levels are bins, whose mode
/// sliding.cuh finds.
#pragma once
#include "kernels/swofilter/rank/ordinals.cuh"

namespace cudascan::swo {

/// A level of a tile: its samples are `count` places from `begin` on.
struct TileLevel {
  unsigned begin, count;
};
/// Levels that are as frequent as this, or more, come in any order.
constexpr unsigned kLastClass = 1023;

/// The levels of tiles that occur at least twice, the most frequent first. Tile number i has the
/// part from i * capacity / 2 on.
struct OrderedLevels {
  TileLevel *levels;
  std::uint16_t *bin_values;  ///< kBins for each tile, in ascending order
  unsigned *n_bins, *n_levels;

  static std::size_t bytes(int capacity, int n) {
    return std::size_t(n) *
           (std::size_t(capacity) / 2 * sizeof(TileLevel) + 2 * kBins + 2 * sizeof(unsigned));
  }
  /// @param capacity  a multiple of 16
  static OrderedLevels at(void *memory, int capacity, int n) {
    auto *const levels = static_cast<TileLevel *>(memory);
    auto *const numbers = reinterpret_cast<unsigned *>(levels + std::size_t(n) * (capacity / 2));
    return {levels, reinterpret_cast<std::uint16_t *>(numbers + 2 * n), numbers, numbers + n};
  }
};

/// The sum of the values of all threads before this one; the threads of the block call it together.
__device__ inline unsigned block_sum_before(unsigned v) {
  __shared__ unsigned warp_sums[kOrderThreads / 32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned up_to = warp_scan(v);
  __syncthreads();
  if (lane == 31) warp_sums[warp] = up_to;
  __syncthreads();
  const unsigned sum = warp_sums[lane], before = warp_scan(sum) - sum;
  return __shfl_sync(kWholeWarp, before, warp) + up_to - v;
}

/// The first one of n sorted values after number i that differs from it.
__device__ inline unsigned end_of_level(const std::uint16_t *values, unsigned i, unsigned n) {
  const unsigned value = values[i];
  unsigned low = i, step = 1;  // values[low] is equal
  while (low + step < n && values[low + step] == value) low += step, step *= 2;
  unsigned high = min(low + step, n);  // the first that may differ
  while (high - low > 1) {
    const unsigned middle = (low + high) / 2;
    (values[middle] == value ? low : high) = middle;
  }
  return high;
}

/// Finds the levels of a sorted tile per block.
/// @param with_bins  the most frequent ones become bins, which replace those of the order
static __global__ void __launch_bounds__(kOrderThreads)
    levels_kernel(OrderTiles tiles, OrderedTiles ordered, OrderedLevels levels, bool with_bins) {
  __shared__ unsigned of_class[kLastClass + 1];
  __shared__ std::uint16_t unsorted[kBins], bin_values[kBins];
  const unsigned t = threadIdx.x, n = ordered.count[blockIdx.x];
  const std::size_t begin = std::size_t(blockIdx.x) * tiles.capacity;
  const std::uint16_t *const values = ordered.values + begin;
  const unsigned *const places = ordered.places + begin;
  TileLevel *const out = levels.levels + begin / 2;
  // Calls act(first sample, number) for each level that occurs at least twice.
  const auto for_levels = [&](const auto &act) {
    for (unsigned i = t; i + 1 < n; i += kOrderThreads)
      if ((i == 0 || values[i] != values[i - 1]) && values[i] == values[i + 1])
        act(i, end_of_level(values, i, n) - i);
  };

  of_class[t] = 0;
  __syncthreads();
  for_levels([&](unsigned, unsigned count) { atomicAdd(&of_class[min(count, kLastClass)], 1); });
  __syncthreads();
  // From the last class down.
  const unsigned c = kLastClass - t, in_class = of_class[c], before = block_sum_before(in_class);
  of_class[c] = before;
  if (c == 0) levels.n_levels[blockIdx.x] = before + in_class;
  __syncthreads();
  for_levels([&](unsigned i, unsigned count) {
    out[atomicAdd(&of_class[min(count, kLastClass)], 1)] = {i, count};
  });
  if (!with_bins) return;
  __syncthreads();
  const unsigned bins = min(levels.n_levels[blockIdx.x], kBins);
  if (t < bins) unsorted[t] = values[out[t].begin];
  __syncthreads();
  if (t < bins) {
    unsigned lower = 0;
    for (unsigned i = 0; i < bins; ++i) lower += unsorted[i] < unsorted[t];
    bin_values[lower] = levels.bin_values[blockIdx.x * kBins + lower] = unsorted[t];
  }
  if (t == 0) levels.n_bins[blockIdx.x] = bins;
  __syncthreads();
  for (unsigned i = t; i < n; i += kOrderThreads) {
    const unsigned value = values[i], place = places[i];
    unsigned low = 0, high = bins;  // the first bin that is not less
    while (low < high) {
      const unsigned middle = (low + high) / 2;
      if (bin_values[middle] < value)
        low = middle + 1;
      else
        high = middle;
    }
    ordered.bins[begin + (place >> 16) * tiles.stride + (place & 0xffff)] =
        low < bins && bin_values[low] == value ? low : kNoLevel;
  }
}

/// The most frequent bin in a window and its count, which may be 0.
struct ModeBin {
  std::uint16_t bin, count;
};

/// For the modes of bins.
struct OrdinalModeJob : OrdinalSlidingJob<ModeBin> {
  using Counts = SlidingCounts;

  __device__ static void change(const Counts &counts, unsigned sample, unsigned by) {
    counts.change(level_of(sample), by);
  }
  template <SwoFilterOperator>
  __device__ void put(int x, int y, unsigned, const Counts &counts, SlidingSearch &) const {
    const auto [bin, count] = mode_of(counts);
    found_at(x, y) = {static_cast<std::uint16_t>(bin), static_cast<std::uint16_t>(count)};
  }
};

/// The mode from the most frequent bin, if there are bins, and the levels that can win against it.
static __global__ void __launch_bounds__(kMemberThreads)
    level_mode_kernel(const __grid_constant__ OrdinalJob<ModeBin> job,
                      const __grid_constant__ WindowCells cells, bool rectangle,
                      OrderedLevels levels, bool with_bins) {
  __shared__ unsigned bits[TileWindow::kMostWords];
  for_result(job, cells, rectangle, bits,
             [&](int x, int y, const TileWindow &window, const ModeBin &found, int tile) {
               const std::size_t tile_begin = std::size_t(tile) * job.tiles.capacity;
               const unsigned *const places = job.ordered.places + tile_begin;
               const std::uint16_t *const values = job.ordered.values + tile_begin;
               const TileLevel *const level = levels.levels + tile_begin / 2;
               const unsigned n_levels = levels.n_levels[tile];
               unsigned i = 0, most = 0, best = 0;
               if (with_bins) {
                 i = levels.n_bins[tile];
                 most = found.count;
                 if (most > 0) best = levels.bin_values[tile * kBins + found.bin];
               }
               for (; i < n_levels; ++i) {
                 const auto [begin, of_tile] = level[i];
                 if (of_tile < most && of_tile < kLastClass) break;
                 unsigned count = 0;
                 for (unsigned k = 0; k < of_tile; ++k) count += window.holds(places[begin + k]);
                 const unsigned value = values[begin];
                 if (count > most || (count == most && value < best)) most = count, best = value;
               }
               std::uint16_t &out = job.selection.out.row(y)[x];
               out = static_cast<std::uint16_t>(best);
               if (most > 1) return;
               // All levels of the window occur once.
               out = job.selection.in.plane.row(y)[x];
               for (unsigned i = 0, n = job.ordered.count[tile]; i < n; ++i)
                 if (window.holds(places[i])) {
                   out = values[i];
                   break;
                 }
             });
}

}  // namespace cudascan::swo
