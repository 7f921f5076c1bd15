// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Order statistics of 16-bit samples by ordinals. A block sorts the samples of a tile and of the
/// margin that its windows need, by counting. A sample's number in this order is its ordinal; equal
/// samples are in any order. Bins of equally many ordinals are samples of 8 bits, whose order
/// statistics other kernels find (digits.cuh, following.cuh, bin_columns.cuh): the bin with the
/// result, and the result's number among the samples of this bin in the window. Then the bin's
/// sorted samples that lie in the window are counted. The time is the same for all images, however
/// the levels are distributed (the idea of the ordinal transform: Weiss, "Fast median and bilateral
/// filtering", SIGGRAPH 2006).
#pragma once
#include "kernels/base/ptx.cuh"
#include "kernels/base/warp_sums.cuh"
#include "kernels/swofilter/rank/sliding.cuh"

namespace cudascan::swo {

constexpr int kOrderThreads = 1024;
/// Samples that a thread reads before it looks at the first of them.
constexpr int kOrderAhead = 4;
constexpr unsigned kBins = 256;
/// Sorted samples are written anywhere in their tile. A block writes them in parts, the lowest ones
/// first, so that the parts of all blocks fit into this share of the cache, and whole sectors leave
/// it.
constexpr int kOrderCacheShare = 2, kMostOrderParts = 16;
/// No window holds it.
constexpr unsigned kNoPlace = ~0u;

/// How an image is divided into tiles of results. Tiles with their margins are `stride` columns
/// wide and `capacity / stride` rows high.
struct OrderTiles {
  int width, height;  // of the results
  int across;         // tiles in a row
  int rx, ry;         // the margin
  int stride, capacity;
  bool transposed;  // x is down in the image, and y across

  __device__ int x0(int tile) const { return tile % across * width; }
  __device__ int y0(int tile) const { return tile / across * height; }
};

/// The samples of tiles, sorted. Tile number i of `n` has the part from i * capacity on.
struct OrderedTiles {
  unsigned *places;       ///< y << 16 | x in the tile, in ascending order of samples
  std::uint16_t *values;  ///< the sorted samples
  unsigned *bins;         ///< row by row: sample << 16 | bin, see OrderBins
  unsigned *bin_size;     ///< ordinals of a bin, a multiple of 4; one number for each tile
  unsigned *count;        ///< samples of each tile

  /// Bytes of n tiles.
  static std::size_t bytes(int capacity, int n) {
    return std::size_t(n) * (std::size_t(capacity) * 10 + 2 * sizeof(unsigned));
  }
  /// @param capacity  a multiple of 16
  static OrderedTiles at(void *memory, int capacity, int n) {
    const std::size_t samples = std::size_t(n) * capacity;
    auto *const places = static_cast<unsigned *>(memory);
    auto *const bins = places + samples;
    auto *const values = reinterpret_cast<std::uint16_t *>(bins + samples);
    auto *const numbers = reinterpret_cast<unsigned *>(values + samples);
    return {places, values, bins, numbers, numbers + n};
  }
};

/// How many bins a tile has, and what their numbers are multiplied by. Missing samples are in one
/// more bin. Samples beside them have no lowest bits.
struct OrderBins {
  unsigned number = kBins, unit = 1;
  int shift = 0;
  bool with_values = true;  ///< whether the sorted samples are needed
};

struct OrderJob {
  Source<std::uint16_t> in;
  OrderTiles tiles;
  OrderedTiles ordered;
  int first;         // the first tile of this launch
  int counter_bits;  // log2 of the number of counters
  int parts;         // see kOrderCacheShare
  OrderBins bins;
};

/// Calls act(x, y, sample, exists, in_tile) for all samples of a tile with its margin, at (x, y) of
/// the tile. All lanes of a warp make the same calls, for neighbours in a row of the image, even if
/// there is no sample at a lane's place, or this is not in the tile.
/// @tparam transposed  as of the tiles
template <bool transposed, typename Act>
__device__ void for_tile(const OrderJob &job, int tile, const Act &act) {
  const OrderTiles &tiles = job.tiles;
  const Plane<const std::uint16_t> &in = job.in.plane;
  const int lane = threadIdx.x % 32;
  const bool constant = job.in.border == SwoFilterBorder::constant;
  // Across and down in the image.
  struct Extent {
    int begin, length;
  };
  const auto extent = [&](int begin, int results, int reach, int n) {
    return Extent{begin - reach, min(results, n - begin) + 2 * reach};
  };
  const int x0 = tiles.x0(tile), y0 = tiles.y0(tile);
  const Extent across = transposed ? extent(y0, tiles.height, tiles.ry, in.width)
                                   : extent(x0, tiles.width, tiles.rx, in.width);
  const Extent down = transposed ? extent(x0, tiles.width, tiles.rx, in.height)
                                 : extent(y0, tiles.height, tiles.ry, in.height);
  const bool all_inside = across.begin >= 0 && across.begin + across.length <= in.width;
  // So the compiler knows that all lanes have the same row.
  const int warp = __shfl_sync(kWholeWarp, static_cast<int>(threadIdx.x / 32), 0);
  for (int i = warp; i < down.length; i += kOrderThreads / 32) {
    const int row = resolve(down.begin + i, in.height, job.in.border);
    const std::uint16_t *const samples = in.row(max(row, 0));
    const std::uint16_t *const from = samples + across.begin;
    for (int begin = 0; begin < across.length; begin += 32 * kOrderAhead) {
      unsigned sample[kOrderAhead];
      bool exists[kOrderAhead];
      if (all_inside && row >= 0) {
#pragma unroll
        for (int j = 0; j < kOrderAhead; ++j) {
          const int k = begin + 32 * j + lane;
          exists[j] = k < across.length;
          sample[j] = exists[j] ? from[k] : 0;
        }
      } else {
#pragma unroll
        for (int j = 0; j < kOrderAhead; ++j) {
          const int k = begin + 32 * j + lane;
          const int column = resolve(across.begin + k, in.width, job.in.border);
          const bool inside = row >= 0 && column >= 0;
          exists[j] = k < across.length && (inside || constant);
          sample[j] = job.in.outside;
          if (exists[j] && inside) sample[j] = samples[column];
        }
      }
#pragma unroll
      for (int j = 0; j < kOrderAhead; ++j) {
        if (begin + 32 * j >= across.length) break;
        const int k = begin + 32 * j + lane;
        act(transposed ? i : k, transposed ? k : i, sample[j], exists[j], k < across.length);
      }
    }
  }
}

/// Counters in shared memory, one for the samples that are equal without their lowest bits.
class OrderCounters {
 public:
  __device__ OrderCounters(unsigned *counters, int bits) : counters_(counters), bits_(bits) {}

  __device__ void clear() const {
    for (int i = threadIdx.x; i < (1 << bits_) / 4; i += kOrderThreads)
      reinterpret_cast<uint4 *>(counters_)[i] = uint4{};
  }
  __device__ unsigned low_bits() const { return 16 - bits_; }

  /// Counts the sample of each lane that has one, and returns what its counter was. Flat parts of
  /// an image have the same sample in all lanes.
  __device__ unsigned add(unsigned sample, bool has) const {
    const unsigned lane = threadIdx.x % 32;
    const unsigned first = __shfl_sync(kWholeWarp, sample, 0);
    if (__all_sync(kWholeWarp, has && sample == first)) {
      unsigned before = 0;
      if (lane == 0) before = atomicAdd(counters_ + (sample >> low_bits()), 32);
      return __shfl_sync(kWholeWarp, before, 0) + lane;
    }
    return has ? atomicAdd(counters_ + (sample >> low_bits()), 1) : 0;
  }

  /// After sum_up(): the number of the first counter that is not less than `ordinal`.
  __device__ unsigned first_from(unsigned ordinal) const {
    unsigned begin = 0, end = 1u << bits_;
    while (begin < end) {
      const unsigned middle = (begin + end) / 2;
      if (counters_[middle] < ordinal)
        begin = middle + 1;
      else
        end = middle;
    }
    return begin;
  }
  /// Replaces each count by the sum of those before it. Returns the sum of all. All threads of the
  /// block call it.
  __device__ unsigned sum_up() const {
    __shared__ unsigned warp_sums[kOrderThreads / 32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int part = (1 << bits_) / (kOrderThreads / 32);
    auto *const words = reinterpret_cast<uint4 *>(counters_ + warp * part) + lane;
    unsigned sum = 0;
    for (int i = 0; i < part / 4; i += 32) {
      const uint4 v = words[i];
      sum += v.x + v.y + v.z + v.w;
    }
    sum = warp_sum(sum);
    if (lane == 0) warp_sums[warp] = sum;
    __syncthreads();
    unsigned before = warp_scan(warp_sums[lane]);
    const unsigned all = __shfl_sync(kWholeWarp, before, 31);
    before = __shfl_sync(kWholeWarp, before - warp_sums[lane], warp);
    for (int i = 0; i < part / 4; i += 32) {
      const uint4 v = words[i];
      const unsigned four = v.x + v.y + v.z + v.w, up_to = warp_scan(four);
      const unsigned begin = before + up_to - four;
      words[i] = uint4{begin, begin + v.x, begin + v.x + v.y, begin + v.x + v.y + v.z};
      before += __shfl_sync(kWholeWarp, up_to, 31);
    }
    __syncthreads();
    return all;
  }

 private:
  unsigned *counters_;
  int bits_;
};

/// Sorts a tile per block.
/// @tparam transposed  as of the tiles
/// @tparam in_parts    there are several
template <bool transposed, bool in_parts>
static __global__ void __launch_bounds__(kOrderThreads)
    order_kernel(const __grid_constant__ OrderJob job) {
  const OrderCounters counters(reinterpret_cast<unsigned *>(dynamic_shared_memory()),
                               job.counter_bits);
  const std::size_t begin = std::size_t(blockIdx.x) * job.tiles.capacity;
  unsigned *const places = job.ordered.places + begin;
  std::uint16_t *const values = job.ordered.values + begin;
  unsigned *const bins = job.ordered.bins + begin;
  const int tile = job.first + static_cast<int>(blockIdx.x);

  counters.clear();
  __syncthreads();
  for_tile<transposed>(job, tile, [&](int, int, unsigned sample, bool exists, bool) {
    counters.add(sample, exists);
  });
  __syncthreads();
  const unsigned n = counters.sum_up();
  const unsigned bin_size = max(((n + job.bins.number - 1) / job.bins.number + 3) & ~3u, 4u);
  const unsigned reciprocal = static_cast<unsigned>((1ull << 32) / bin_size) + 1;
  if (threadIdx.x == 0) {
    job.ordered.bin_size[blockIdx.x] = bin_size;
    job.ordered.count[blockIdx.x] = n;
  }
  // Readers take four places at a time.
  if (threadIdx.x < 4 && n + threadIdx.x < (n + 3) / 4 * 4) places[n + threadIdx.x] = kNoPlace;
  __shared__ unsigned bounds[kMostOrderParts + 1];  // numbers of counters, where parts begin
  const int parts = in_parts ? job.parts : 1;
  if (in_parts && static_cast<int>(threadIdx.x) <= parts)
    bounds[threadIdx.x] = static_cast<int>(threadIdx.x) == parts
                              ? 1u << job.counter_bits
                              : counters.first_from(std::uint64_t{n} * threadIdx.x / parts);
  __syncthreads();
  for (int part = 0; part < parts; ++part) {
    [[maybe_unused]] const unsigned first = in_parts ? bounds[part] : 0,
                                    length = in_parts ? bounds[part + 1] - first : 0;
    // Equal counters are in the order of the lowest bits, as these are taken one after another.
    for (unsigned low = 0; low < 1u << counters.low_bits(); ++low) {
      const bool of_missing = part == 0 && low == 0;
      const auto place = [&](int x, int y, unsigned sample, bool exists, bool in_tile) {
        bool has = exists && (sample & ((1u << counters.low_bits()) - 1)) == low;
        if constexpr (in_parts) {
          has = has && (sample >> counters.low_bits()) - first < length;
          if (!of_missing && !__any_sync(kWholeWarp, has)) return;
        }
        const unsigned ordinal = counters.add(sample, has);
        if (has) {
          places[ordinal] = static_cast<unsigned>(y) << 16 | static_cast<unsigned>(x);
          if (job.bins.with_values) values[ordinal] = static_cast<std::uint16_t>(sample);
        }
        if (has || (of_missing && in_tile && !exists))
          bins[y * job.tiles.stride + x] =
              has ? sample >> job.bins.shift << 16 | __umulhi(ordinal, reciprocal) * job.bins.unit
                  : job.bins.number * job.bins.unit;
      };
      for_tile<transposed>(job, tile, place);
      __syncthreads();
    }
  }
}

}  // namespace cudascan::swo
