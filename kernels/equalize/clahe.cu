// SPDX-License-Identifier: LGPL-2.1-or-later
// One launch for 8-bit samples. The blocks share out the histograms of the tiles; when all have met, each
// interpolates its rows, for which it makes the mappings of the tiles above and below them. Between the
// centres of four tiles a level becomes one of four levels: they are looked up as one word.
#include "kernels/equalize/clahe.cuh"

#include <algorithm>

#include "kernels/base/cuda_check.cuh"
#include "kernels/base/warp_sums.cuh"
#include "kernels/equalize/mapping.h"
#include "kernels/histogram/block_team.cuh"
#include "kernels/histogram/launch.cuh"

namespace cudascan::equalize {
namespace {

using histogram::Adding;
using histogram::Samples;
using histogram::Vectors;

constexpr int kBins = 256;

struct Job {
  Vectors<const std::uint8_t> in;
  Plane<std::uint8_t> out;
  bool words;  // rows of both planes are at multiples of 4 bytes
  Tiles tiles;
  Range range;
  int pairs;   // of tiles that are looked up at once
  int slices;  // that the rows of a tile are cut into, for a block each
  int limit;
  float scale, inverse_width, inverse_height;
  std::uint32_t amount;
  std::uint32_t
      *counts;  // of each slice of each tile, kBins: by index, then those beyond white and black
  unsigned *barrier;
};

/// Counts a slice of a tile.
template <typename Counters>
__device__ void count_slice(const Job &job, unsigned char *memory, int item) {
  const Tiles &tiles = job.tiles;
  const Plane<const std::uint8_t> &plane = job.in.plane;
  const int tile = item / job.slices, slice = item % job.slices;
  const int x0 = tile % tiles.nx * tiles.width, x1 = x0 + tiles.width;
  const int y0 = tile / tiles.nx * tiles.height + tiles.height * slice / job.slices;
  const int rows = tile / tiles.nx * tiles.height + tiles.height * (slice + 1) / job.slices - y0;
  Counters counters(memory, job.range.levels);
  const auto emit = [&](int level, unsigned n) {
    job.counts[item * kBins + ((level - job.range.first) & (kBins - 1))] = n;
  };

  // Vectors that are all in the tile, then the columns to their left and right and beyond the plane.
  constexpr int kSamples = Vectors<const std::uint8_t>::kSamples;
  const int first = (x0 + kSamples - 1) / kSamples;
  const int per_row = max(min(x1, job.in.rest()) / kSamples - first, 0), all = per_row * rows;
  const int left = per_row > 0 ? first * kSamples - x0 : 0;
  const int right_begin = per_row > 0 ? (first + per_row) * kSamples : x0;
  const int singles = (left + x1 - right_begin) * rows;
  constexpr int kThreads = Counters::kThreads;
  int i = threadIdx.x, row = per_row > 0 ? i / per_row : 0, column = i - row * per_row;
  // Where the next vector of this thread is; nullptr: there are no more.
  const auto next = [&]() -> const uint4 * {
    if (i >= all) return nullptr;
    const void *const from =
        plane.row(source_index(y0 + row, plane.height)) + (first + column) * kSamples;
    i += kThreads;
    row += kThreads / per_row;
    column += kThreads % per_row;
    if (column >= per_row) {
      column -= per_row;
      ++row;
    }
    return static_cast<const uint4 *>(from);
  };
  Adding adding(counters, emit);
  counters.clear();
  __syncthreads();
  if constexpr (Counters::kKept > 0) {
    using Kept = histogram::KeptVectors<Counters::kKept, kThreads>;
    const Kept kept(memory + Counters::kBytes);
    constexpr int kRound = Counters::kKept * kThreads;
    for (int begin = 0; begin < all; begin += kRound) {
      // Of this thread, and of the one that has most.
      const int mine = i < all ? min((all - i + kThreads - 1) / kThreads, Counters::kKept) : 0;
      const int most = min((all - begin + kThreads - 1) / kThreads, Counters::kKept);
      const int brought = (most + Kept::kGroup - 1) / Kept::kGroup * Kept::kGroup;
#pragma unroll 2
      for (int j = 0; j < brought; ++j) kept.bring(j, next());
#pragma unroll 1
      for (int j = 0; j < most; j += Kept::kGroup) {
        kept.wait_for(j, brought);
        adding.template add<Kept::kGroup>([&](int k) {
          return j + k < mine ? Samples{kept[j + k], kSamples} : Samples{};
        });
      }
    }
  } else {
#pragma unroll 1
    for (int begin = 0; begin < all; begin += kThreads)
      adding.template add<1>([&](int) {
        const uint4 *const from = next();
        return from ? Samples{*from, kSamples} : Samples{};
      });
  }
  const int each = left + x1 - right_begin;
  constexpr int kPacks = Counters::kTogether;
#pragma unroll 1
  for (int begin = 0; begin < singles; begin += kPacks * kSamples * kThreads) {
    int next_single = begin + static_cast<int>(threadIdx.x);
    adding.template add<kPacks>([&](int) {
      return histogram::pack_samples<std::uint8_t>([&](std::uint8_t &sample) {
        if (next_single >= singles) return false;
        const int at = next_single % each, x = at < left ? x0 + at : right_begin + at - left;
        const int y = source_index(y0 + next_single / each, plane.height);
        sample = plane.row(y)[source_index(x, plane.width)];
        next_single += kThreads;
        return true;
      });
    });
  }
  adding.finish();
}

/// Makes the mapping of a tile, with the lanes of a warp.
/// @param map  what an index becomes, kBins, at a multiple of 8 bytes
__device__ void map_tile(const Job &job, int tile, unsigned char *map) {
  const int bins = job.range.count, lane = static_cast<int>(threadIdx.x % 32);
  constexpr int kEach = kBins / 32;
  const int first = lane * kEach;
  int counts[kEach]{};
#pragma unroll 2
  for (int i = 0; i < job.slices; ++i) {
    const auto *const of_slice =
        reinterpret_cast<const uint4 *>(job.counts + (tile * job.slices + i) * kBins + first);
#pragma unroll
    for (int k = 0; k < kEach; k += 4) {
      const uint4 four = of_slice[k / 4];
      counts[k] += four.x;
      counts[k + 1] += four.y;
      counts[k + 2] += four.z;
      counts[k + 3] += four.w;
    }
  }
  if (bins < kBins) {
    std::uint32_t white = 0, black = 0;  // pixels beyond
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      if (first + k < bins) continue;
      (first + k < kBins - job.range.first ? white : black) += counts[k];
      counts[k] = 0;
    }
    white = warp_sum(white);
    black = warp_sum(black);
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      if (first + k == 0) counts[k] += black;
      if (first + k == bins - 1) counts[k] += white;
    }
  }
  std::uint32_t clipped = 0;
#pragma unroll
  for (int k = 0; k < kEach; ++k) clipped += max(counts[k] - job.limit, 0);
  const Share share = share_out(static_cast<int>(warp_sum(clipped)), bins);
  std::uint32_t mine = 0;
  int step = first % share.step, taken = first / share.step;
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const bool takes_of_the_rest = step == 0 && taken < share.rest;
    counts[k] = first + k < bins ? min(counts[k], job.limit) + share.each + takes_of_the_rest : 0;
    mine += counts[k];
    if (++step == share.step) {
      step = 0;
      ++taken;
    }
  }
  std::uint32_t sum = warp_scan(mine) - mine;
  unsigned mapped[kEach];
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    sum += counts[k];
    mapped[k] = tile_map(static_cast<int>(sum), job.scale, bins);
  }
  const auto word = [&](int k) {
    return mapped[k] | mapped[k + 1] << 8 | mapped[k + 2] << 16 | mapped[k + 3] << 24;
  };
  reinterpret_cast<uint2 *>(map)[lane] = {word(0), word(4)};
}

/// Which two tiles side by side, of tiles.nx + 1 pairs.
__device__ int pair_of(const Neighbours &x, int nx) {
  return x.after == 0 ? 0 : x.before == x.after ? nx : x.after;
}

/// Byte i of a word, times a weight. `offset` is -2^23 times the weight: the sum is rounded once, to
/// what the product alone is rounded to.
template <int i>
__device__ float weighted_byte(unsigned word, float weight, float offset) {
  const float above = __uint_as_float(__byte_perm(word, 0x4b000000, 0x7440 | i));  // 2^23 above it
  return fmaf(above, weight, offset);
}

/// What interpolation needs of a column: what the levels become between its tiles, as four bytes, and
/// weights.
struct Column {
  unsigned fours;  // address in shared memory
  float before, after, before_offset, after_offset;

  Column() = default;
  __device__ Column(const unsigned *fours, const Neighbours &x)
      : fours(shared_address(fours)),
        before(x.weight_before),
        after(x.weight_after),
        before_offset(-0x1p23f * before),
        after_offset(-0x1p23f * after) {}

  /// interpolate_unrounded()
  __device__ float map(unsigned level, const float2 &row) const {
    unsigned all;
    load_shared(fours + 4 * level, all);
    const float above =
        weighted_byte<0>(all, before, before_offset) + weighted_byte<1>(all, after, after_offset);
    const float below =
        weighted_byte<2>(all, before, before_offset) + weighted_byte<3>(all, after, after_offset);
    return above * row.x + below * row.y;
  }
};

/// Rows that are interpolated between two meetings of the block.
constexpr int kMostRows = 256;

/// Pairs of tiles that four columns side by side may be between.
constexpr int kPairsOfFour = 5;

/// Shared memory of interpolate_rows(): weights of the rows, for each pair of tiles what levels become,
/// and the mappings of two rows of tiles.
/// @param pairs  that it has at once: all of them, or kPairsOfFour and more
constexpr int interpolation_bytes(int pairs) {
  return kMostRows * sizeof(float2) + pairs * kBins * sizeof(unsigned) + 2 * (pairs + 1) * kBins;
}
/// Most pairs for so many bytes.
constexpr int most_pairs(int bytes) {
  return (bytes - interpolation_bytes(0)) / (interpolation_bytes(1) - interpolation_bytes(0));
}

/// Interpolates rows from y on, before `end`, that have the same neighbours and are kMostRows at most.
/// Of them, columns that begin between the pairs of tiles from first_pair on, before end_pair.
__device__ void interpolate_rows(const Job &job, unsigned char *memory, int y, int end,
                                 int first_pair, int end_pair) {
  const Tiles &tiles = job.tiles;
  const int width = job.out.width, rows = end - y;
  auto *const weights = reinterpret_cast<float2 *>(memory);
  auto *const fours = reinterpret_cast<unsigned *>(weights + kMostRows);
  auto *const maps = reinterpret_cast<unsigned char *>(fours + job.pairs * kBins);
  const Neighbours of_rows = neighbours(y, job.inverse_height, tiles.ny);
  __syncthreads();
  for (int i = threadIdx.x; i < rows; i += blockDim.x) {
    const Neighbours row = neighbours(y + i, job.inverse_height, tiles.ny);
    weights[i] = {row.weight_before, row.weight_after};
  }
  // Of the tiles from first_tile on, those above and those below.
  const int first_tile = max(first_pair - 1, 0);
  const int n_tiles = min(first_pair + job.pairs, tiles.nx) - first_tile;
  for (int i = threadIdx.x / 32; i < 2 * n_tiles; i += blockDim.x / 32) {
    const int row = i < n_tiles ? of_rows.before : of_rows.after;
    map_tile(job, row * tiles.nx + first_tile + i % n_tiles, maps + i * kBins);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < job.pairs * kBins; i += blockDim.x) {
    const int pair = min(first_pair + i / kBins, tiles.nx);
    const int index = job.range.index(i % kBins);
    const int before = max(pair - 1, 0), after = min(pair, tiles.nx - 1);
    const auto map = [&](int row, int tile) -> unsigned {
      return maps[(row * n_tiles + tile - first_tile) * kBins + index];
    };
    fours[i] = map(0, before) | map(0, after) << 8 | map(1, before) << 16 | map(1, after) << 24;
  }
  __syncthreads();
  const bool plain = job.words && job.amount == 65536 && job.range.first == 0;
  for (int x = 4 * static_cast<int>(threadIdx.x); x < width;
       x += 4 * static_cast<int>(blockDim.x)) {
    const int pair = pair_of(neighbours(x, job.inverse_width, tiles.nx), tiles.nx);
    if (pair < first_pair || pair >= end_pair) continue;
    Column columns[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const Neighbours of_column = neighbours(x + i, job.inverse_width, tiles.nx);
      columns[i] = Column(fours + (pair_of(of_column, tiles.nx) - first_pair) * kBins, of_column);
    }
    const std::uint8_t *in = job.in.plane.row(y) + x;
    std::uint8_t *out = job.out.row(y) + x;
    if (plain && x + 4 <= width) {
      // Rows are loaded before the ones above them are done.
      constexpr int kBatch = 4;
      unsigned words[kBatch], next[kBatch];
      const auto load = [&](int first) {
#pragma unroll
        for (int k = 0; k < kBatch; ++k, in += job.in.plane.stride)
          if (first + k < rows) next[k] = *reinterpret_cast<const unsigned *>(in);
      };
      load(0);
#pragma unroll 1
      for (int first = 0; first < rows; first += kBatch) {
#pragma unroll
        for (int k = 0; k < kBatch; ++k) words[k] = next[k];
        load(first + kBatch);
#pragma unroll
        for (int k = 0; k < kBatch; ++k, out += job.out.stride) {
          if (first + k >= rows) break;
          const float2 row = weights[first + k];
          unsigned bits[4];
#pragma unroll
          for (int i = 0; i < 4; ++i)
            bits[i] = __float_as_uint(columns[i].map(words[k] >> 8 * i & 0xff, row) + kNoFraction);
          *reinterpret_cast<unsigned *>(out) = __byte_perm(
              __byte_perm(bits[0], bits[1], 0x0040), __byte_perm(bits[2], bits[3], 0x0040), 0x5410);
        }
      }
      continue;
    }
#pragma unroll 1
    for (int i = 0; i < rows; ++i, in += job.in.plane.stride, out += job.out.stride)
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        if (x + k >= width) break;
        const int mapped = round_half_even(columns[k].map(in[k], weights[i]));
        out[k] = job.amount == 0 ? in[k]
                                 : static_cast<std::uint8_t>(job.range.sample(
                                       blend(job.range.index(in[k]), mapped, job.amount)));
      }
  }
}

/// Where rows of the kind of y end, at most kMostRows of them and before `end`. All threads call it.
__device__ int end_of_kind(const Job &job, int y, int end) {
  const int i = static_cast<int>(threadIdx.x);
  const Neighbours first = neighbours(y, job.inverse_height, job.tiles.ny);
  const Neighbours mine = neighbours(y + i, job.inverse_height, job.tiles.ny);
  const bool same = mine.before == first.before && mine.after == first.after;
  return y + __syncthreads_count(same && i < kMostRows && y + i < end);
}

/// The first row of a block. Rows that the centres of the same tiles lie above and below are shared out
/// to blocks of their own, as far as there are enough: a block with rows of two kinds would have to
/// make twice as many mappings.
__device__ int first_row(const Job &job, int block) {
  const int height = job.out.height, blocks = static_cast<int>(gridDim.x);
  const int tile = job.tiles.height, kinds = job.tiles.ny + 1;
  // The first row of a kind, and the block that it goes to.
  const auto row_of = [&](int kind) {
    return kind <= 0 ? 0 : kind >= kinds ? height : min(((2 * kind - 1) * tile + 1) / 2, height);
  };
  const auto block_of = [&](int row) { return (2 * row * blocks + height) / (2 * height); };
  if (block == 0 || block == blocks) return block == 0 ? 0 : height;
  // The last kind that does not begin with a later block.
  const int row = ((2 * block + 1) * height - 1) / (2 * blocks);
  const int kind = min((2 * row + tile) / (2 * tile), kinds - 1);
  const int begin = row_of(kind), begin_block = block_of(begin);
  const int end = row_of(kind + 1), end_block = block_of(end);
  return begin + (end - begin) * (block - begin_block) / max(end_block - begin_block, 1);
}

template <typename Counters>
__global__ void __launch_bounds__(Counters::kThreads, 1)
    clahe_kernel(const __grid_constant__ Job job) {
  let_next_kernel_start();
  wait_for_kernels_before();
  GridBarrier barrier(job.barrier);
  unsigned char *const memory = dynamic_shared_memory();
  const int slices = job.tiles.nx * job.tiles.ny * job.slices;
  for (int i = blockIdx.x; i < slices; i += static_cast<int>(gridDim.x)) {
    __syncthreads();
    count_slice<Counters>(job, memory, i);
  }
  barrier.arrive();
  const int block = static_cast<int>(blockIdx.x);
  const int end = first_row(job, block + 1);
  int y = first_row(job, block), next = end_of_kind(job, y, end);
  barrier.wait();
  while (y < end) {
    const int all = job.tiles.nx + 1, step = job.pairs < all ? job.pairs - kPairsOfFour + 1 : all;
    for (int pair = 0; pair < all; pair += step)
      interpolate_rows(job, memory, y, next, pair, pair + step);
    y = next;
    next = end_of_kind(job, y, end);
  }
}

// ---- 16-bit samples ------------------------------------------------------------------------------

/// Up to 65536 bins of each tile are in device memory.
struct DeepJob {
  Plane<const std::uint16_t> in;
  Plane<std::uint16_t> out;
  Tiles tiles;
  Range range;
  int limit;
  float scale, inverse_width, inverse_height;
  std::uint32_t amount;
  std::uint32_t *counts;  // of each tile, range.count
  std::uint16_t *maps;    // the same
};

constexpr int kRun = 8;  // neighbours that a thread counts

__global__ void count_tiles_kernel(const __grid_constant__ DeepJob job) {
  const Tiles &tiles = job.tiles;
  const int y = blockIdx.y, runs = (tiles.width + kRun - 1) / kRun;
  const int run = blockIdx.x * blockDim.x + threadIdx.x;
  if (run >= runs * tiles.nx) return;
  const int tile_x = run / runs, x0 = run % runs * kRun;
  const std::uint16_t *const row = job.in.row(source_index(y, job.in.height));
  std::uint32_t *const counts =
      job.counts + static_cast<std::size_t>(y / tiles.height * tiles.nx + tile_x) * job.range.count;
  int index = -1;
  std::uint32_t n = 0;
  for (int i = x0; i < min(x0 + kRun, tiles.width); ++i) {
    const int next =
        job.range.index_of_sample(row[source_index(tile_x * tiles.width + i, job.in.width)]);
    if (next != index && n > 0) atomicAdd(counts + index, n);
    n = next == index ? n + 1 : 1;
    index = next;
  }
  atomicAdd(counts + index, n);
}

constexpr int kMapThreads = 1024;

__global__ void __launch_bounds__(kMapThreads)
    map_tiles_kernel(const __grid_constant__ DeepJob job) {
  __shared__ BlockTeamMemory memory;
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * job.range.count;
  BlockTeam team(job.counts + first, job.range.count, memory);
  std::uint32_t mine = 0, clipped;
  for (int i = team.begin(); i < team.end(); ++i)
    mine += max(static_cast<int>(team.count(i)) - job.limit, 0);
  team.before(mine, clipped);
  const Share share = share_out(static_cast<int>(clipped), job.range.count);
  const auto kept = [&](int i) {
    return clipped_count(static_cast<int>(team.count(i)), i, job.limit, share);
  };
  std::uint32_t sum = 0, all;
  for (int i = team.begin(); i < team.end(); ++i) sum += kept(i);
  sum = team.before(sum, all);
  for (int i = team.begin(); i < team.end(); ++i) {
    sum += kept(i);
    job.maps[first + i] =
        static_cast<std::uint16_t>(tile_map(static_cast<int>(sum), job.scale, job.range.count));
  }
}

__global__ void interpolate_kernel(const __grid_constant__ DeepJob job) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= job.in.width) return;
  const std::uint16_t sample = job.in.row(y)[x];
  if (job.amount == 0) {
    job.out.row(y)[x] = sample;
    return;
  }
  const int index = job.range.index_of_sample(sample);
  const Neighbours columns = neighbours(x, job.inverse_width, job.tiles.nx);
  const Neighbours rows = neighbours(y, job.inverse_height, job.tiles.ny);
  const auto map = [&](int tile_y, int tile_x) {
    const auto tile = static_cast<std::size_t>(tile_y * job.tiles.nx + tile_x);
    return static_cast<float>(job.maps[tile * job.range.count + index]);
  };
  const int mapped =
      interpolate(columns, rows, map(rows.before, columns.before), map(rows.before, columns.after),
                  map(rows.after, columns.before), map(rows.after, columns.after));
  job.out.row(y)[x] =
      static_cast<std::uint16_t>(job.range.sample(blend(index, mapped, job.amount)));
}

/// What both jobs have.
template <typename Job, typename T>
Job make_job(Plane<const T> in, Plane<T> out, const EqualizeParams &p) {
  const Tiles tiles(p, in.width, in.height);
  const Range range = Range::of(in.maximum, in.black, in.white);
  Job job{};
  job.out = out;
  job.tiles = tiles;
  job.range = range;
  job.limit = clip_limit(p.clip_limit, tiles.pixels(), range.count);
  job.scale = tile_scale(range.count, tiles.pixels());
  job.inverse_width = 1.f / static_cast<float>(tiles.width);
  job.inverse_height = 1.f / static_cast<float>(tiles.height);
  job.amount = weight_of(p.amount);
  return job;
}

}  // namespace

void run_clahe(Cuda &cuda, Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
               const EqualizeParams &p) {
  Job job = make_job<Job>(in, out, p);
  job.in = Vectors<const std::uint8_t>(in, histogram::is_aligned(in, 16));
  job.words = histogram::is_aligned(in, 4) && histogram::is_aligned(out, 4);
  const int tiles = job.tiles.nx * job.tiles.ny;
  static const char key = 0;
  job.barrier = static_cast<unsigned *>(cuda.history(&key, sizeof(unsigned)));
  histogram::with_byte_counters(cuda, [&]<typename Counters>() {
    const int blocks = histogram::blocks_for<Counters>(cuda, in);
    job.slices = std::clamp(blocks / tiles, 1, job.tiles.height);
    const std::size_t counts = static_cast<std::size_t>(tiles) * job.slices * kBins;
    job.counts = static_cast<std::uint32_t *>(cuda.scratch(counts * sizeof(std::uint32_t)));
    using Kept = histogram::KeptVectors<Counters::kKept, Counters::kThreads>;
    constexpr int kBytes = Counters::kBytes + Kept::kBytes;
    constexpr int kPairs = most_pairs(kBytes);
    static_assert(kPairs > kPairsOfFour);
    job.pairs = std::min(job.tiles.nx + 1, kPairs);
    histogram::launch_together<Counters>(cuda, clahe_kernel<Counters>, blocks, kBytes, job);
  });
}
void run_clahe(Cuda &cuda, Plane<const std::uint16_t> in, Plane<std::uint16_t> out,
               const EqualizeParams &p) {
  auto job = make_job<DeepJob>(in, out, p);
  job.in = in;
  const int tiles = job.tiles.nx * job.tiles.ny;
  const std::size_t bins = static_cast<std::size_t>(tiles) * job.range.count;
  job.counts = static_cast<std::uint32_t *>(
      cuda.scratch(bins * (sizeof(std::uint32_t) + sizeof(std::uint16_t))));
  job.maps = reinterpret_cast<std::uint16_t *>(job.counts + bins);
  cuda.clear(job.counts, bins * sizeof(std::uint32_t));
  const unsigned runs = divide_up(job.tiles.width, kRun) * job.tiles.nx;
  const unsigned rows = job.tiles.height * job.tiles.ny;
  launch(cuda, count_tiles_kernel, {dim3((runs + 127) / 128, rows), 128}, job);
  launch(cuda, map_tiles_kernel, {tiles, kMapThreads}, job);
  launch(cuda, interpolate_kernel, {dim3(divide_up(in.width, 128), in.height), 128}, job);
}

}  // namespace cudascan::equalize
