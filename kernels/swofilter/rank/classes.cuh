// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Modes of 16-bit samples. A level is at most as frequent in a window as in the tile with its
/// margin, so a level that is rarer there than another one in the window cannot be the mode. The
/// most frequent 255 levels of a tile become bins, whose mode sliding.cuh finds. The others are in
/// classes of equal frequency, and a window is compared with them until no class can win.
#pragma once
#include "kernels/swofilter/rank/ordinals.cuh"

namespace cudascan::swo {

/// Levels that are more frequent are in the last class.
constexpr unsigned kLastClass = 1023;

/// The levels of one tile by frequency.
struct LevelClasses {
  std::uint16_t bin_levels[kBins];  ///< in ascending order
  unsigned n_bins;
  unsigned above;                  ///< the classes from here on are bins
  unsigned begin[kLastClass + 1];  ///< first sample of a class in ClassedTiles
  unsigned levels[kLastClass + 1];
};

/// Samples of classes 2 to above - 1 of tiles, and of each class all samples of one level after
/// those of another. Tile number i has the part from i * capacity on.
struct ClassedTiles {
  unsigned *places;
  std::uint16_t *values;
  LevelClasses *classes;

  static std::size_t bytes(int capacity, int n) {
    return std::size_t(n) * (std::size_t(capacity) * 6 + sizeof(LevelClasses));
  }
  /// @param capacity  a multiple of 16
  static ClassedTiles at(void *memory, int capacity, int n) {
    const std::size_t samples = std::size_t(n) * capacity;
    auto *const places = static_cast<unsigned *>(memory);
    auto *const values = reinterpret_cast<std::uint16_t *>(places + samples);
    return {places, values, reinterpret_cast<LevelClasses *>(values + samples)};
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

/// Makes the classes of a sorted tile per block.
static __global__ void __launch_bounds__(kOrderThreads)
    classes_kernel(OrderTiles tiles, OrderedTiles ordered, ClassedTiles classed) {
  __shared__ unsigned samples[kLastClass + 1], levels[kLastClass + 1];
  __shared__ unsigned above, n_bins;
  __shared__ std::uint16_t bins[kBins], sorted_bins[kBins];
  const unsigned t = threadIdx.x, n = ordered.count[blockIdx.x];
  const std::size_t begin = std::size_t(blockIdx.x) * tiles.capacity;
  const std::uint16_t *const values = ordered.values + begin;
  const unsigned *const places = ordered.places + begin;
  LevelClasses &classes = classed.classes[blockIdx.x];
  // Calls act(first sample, number, class) for each level.
  const auto for_levels = [&](const auto &act) {
    for (unsigned i = t; i < n; i += kOrderThreads)
      if (i == 0 || values[i] != values[i - 1]) {
        const unsigned count = end_of_level(values, i, n) - i;
        act(i, count, min(count, kLastClass));
      }
  };

  samples[t] = levels[t] = 0;
  if (t == 0) n_bins = 0, above = 1;
  __syncthreads();
  for_levels([&](unsigned, unsigned count, unsigned c) {
    atomicAdd(&samples[c], count);
    atomicAdd(&levels[c], 1);
  });
  __syncthreads();
  // From the last class down.
  const unsigned c = kLastClass - t;
  const unsigned samples_before = block_sum_before(samples[c]);
  const unsigned levels_before = block_sum_before(levels[c]);
  classes.levels[c] = levels[c];
  classes.begin[c] = samples_before;
  if (levels_before <= kBins && levels_before + levels[c] > kBins) above = c + 1;
  __syncthreads();
  samples[c] = samples_before;
  __syncthreads();
  for_levels([&](unsigned i, unsigned count, unsigned c) {
    if (c >= above) {
      bins[atomicAdd(&n_bins, 1)] = values[i];
    } else if (c > 1) {
      const std::size_t to = begin + atomicAdd(&samples[c], count);
      for (unsigned k = 0; k < count; ++k) {
        classed.places[to + k] = places[i + k];
        classed.values[to + k] = values[i + k];
      }
    }
  });
  __syncthreads();
  if (t < n_bins) {
    unsigned before = 0;
    for (unsigned i = 0; i < n_bins; ++i) before += bins[i] < bins[t];
    sorted_bins[before] = classes.bin_levels[before] = bins[t];
  }
  if (t == 0) classes.n_bins = n_bins, classes.above = above;
  __syncthreads();
  for (unsigned i = t; i < n; i += kOrderThreads) {
    const unsigned value = values[i], place = places[i];
    unsigned low = 0, high = n_bins;  // the first bin that is not less
    while (low < high) {
      const unsigned middle = (low + high) / 2;
      if (sorted_bins[middle] < value)
        low = middle + 1;
      else
        high = middle;
    }
    const bool in_bin = low < n_bins && sorted_bins[low] == value;
    ordered.bins[begin + (place >> 16) * tiles.stride + (place & 0xffff)] =
        static_cast<std::uint8_t>(in_bin ? low : kNoBin);
  }
}

/// The most frequent bin in a window and its count, which may be 0.
struct ModeBin {
  std::uint16_t bin, count;
};

/// For the modes of bins.
struct OrdinalModeJob : OrdinalSlidingJob<ModeBin> {
  using Counts = SlidingCounts;

  __device__ bool is_inner() const { return true; }
  __device__ SlidingLevel inner(int x, int y) const { return {bin(x, y)}; }
  __device__ SlidingLevel sample(int x, int y) const { return inner(x, y); }
  template <SwoFilterOperator>
  __device__ void put(int x, int y, unsigned, const Counts &counts, SlidingSearch &) const {
    const auto [bin, count] = mode_of(counts);
    at(x, y) = {static_cast<std::uint16_t>(bin), static_cast<std::uint16_t>(count)};
  }
};

/// The mode from the most frequent bin and the classes that can win against it.
static __global__ void __launch_bounds__(kMemberThreads)
    class_mode_kernel(const __grid_constant__ OrdinalJob<ModeBin> job,
                      const __grid_constant__ WindowCells cells, bool rectangle,
                      ClassedTiles classed) {
  __shared__ unsigned bits[TileWindow::kMostWords];
  for_result(job, cells, rectangle, bits,
             [&](int x, int y, const TileWindow &window, ModeBin found, int tile) {
               const LevelClasses &classes = classed.classes[tile];
               const std::size_t tile_begin = std::size_t(tile) * job.tiles.capacity;
               unsigned most = found.count;
               unsigned best = most > 0 ? classes.bin_levels[found.bin] : 0;
               for (unsigned c = classes.above - 1; c >= max(most, 2u); --c) {
                 std::size_t i = tile_begin + classes.begin[c];
                 for (unsigned levels = classes.levels[c]; levels > 0; --levels) {
                   unsigned count = 0;
                   for (unsigned k = 0; k < c; ++k) count += window.holds(classed.places[i + k]);
                   const unsigned value = classed.values[i];
                   if (count > most || (count == most && value < best)) most = count, best = value;
                   i += c;
                 }
               }
               std::uint16_t &out = job.selection.out.row(y)[x];
               out = static_cast<std::uint16_t>(best);
               if (most > 1) return;
               // All levels of the window occur once.
               out = job.selection.in.plane.row(y)[x];
               for (unsigned i = 0, n = job.ordered.count[tile]; i < n; ++i)
                 if (window.holds(job.ordered.places[tile_begin + i])) {
                   out = job.ordered.values[tile_begin + i];
                   break;
                 }
             });
}

}  // namespace cudascan::swo
