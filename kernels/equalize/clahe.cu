// SPDX-License-Identifier: LGPL-2.1-or-later
// One launch for 8-bit samples. The blocks divide the histograms of the tiles among them and wait
// for one another. Then each block computes the mappings of the tiles above and below its rows, and
// interpolates its rows. Between the centres of four tiles, four mappings apply to a level: their
// results are looked up as one word.
#include "kernels/equalize/clahe.cuh"

#include <algorithm>

#include "kernels/base/grid_barrier.cuh"
#include "kernels/equalize/clahe_job.cuh"
#include "kernels/equalize/clahe_tiles.cuh"
#include "kernels/equalize/mapping.h"
#include "kernels/histogram/launch.cuh"

namespace cudascan::equalize {
namespace {

/// A pair of neighbouring tiles of a row, one of tiles.nx + 1 pairs.
__device__ int pair_of(const TileNeighbours &x, int nx) {
  return x.after == 0 ? 0 : x.before == x.after ? nx : x.after;
}

/// Byte i of a word, times a weight. `offset` is -2^23 times the weight. The sum is rounded once,
/// and the result is the same as that of rounding the product alone.
template <int i>
__device__ float weighted_byte(unsigned word, float weight, float offset) {
  const float above = __uint_as_float(__byte_perm(word, 0x4b000000, 0x7440 | i));  // 2^23 above it
  return fmaf(above, weight, offset);
}

/// What interpolation needs for a column: the four results for each level between its tiles, as
/// bytes, and weights.
struct ClaheColumn {
  unsigned fours;  // address in shared memory
  float before, after, before_offset, after_offset;

  ClaheColumn() = default;
  __device__ ClaheColumn(const unsigned *fours, const TileNeighbours &x)
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

/// Rows that are interpolated between two barriers of the block.
constexpr int kMostRows = 256;

/// Pairs of tiles that four neighbouring columns may lie between.
constexpr int kPairsOfFour = 5;

/// Shared memory of interpolate_rows(): weights of the rows, results for the levels for each pair
/// of tiles, and the mappings of two rows of tiles.
/// @param pairs  number that it holds at once: all of them, or at least kPairsOfFour
constexpr int interpolation_bytes(int pairs) {
  return kMostRows * sizeof(float2) + pairs * kBins * sizeof(unsigned) + 2 * (pairs + 1) * kBins;
}
/// Largest number of pairs for a number of bytes.
constexpr int most_pairs(int bytes) {
  return (bytes - interpolation_bytes(0)) / (interpolation_bytes(1) - interpolation_bytes(0));
}

/// Interpolates the rows from y to end - 1, at most kMostRows, which have the same neighbours; of
/// these rows, the columns that begin between the pairs of tiles from first_pair to end_pair - 1.
__device__ void interpolate_rows(const ClaheJob &job, unsigned char *memory, int y, int end,
                                 int first_pair, int end_pair) {
  const Tiles &tiles = job.tiles;
  const int width = job.out.width, rows = end - y;
  auto *const weights = reinterpret_cast<float2 *>(memory);
  auto *const fours = reinterpret_cast<unsigned *>(weights + kMostRows);
  auto *const maps = reinterpret_cast<unsigned char *>(fours + job.pairs * kBins);
  const TileNeighbours of_rows = neighbours(y, job.inverse_height, tiles.ny);
  __syncthreads();
  for (int i = threadIdx.x; i < rows; i += blockDim.x) {
    const TileNeighbours row = neighbours(y + i, job.inverse_height, tiles.ny);
    weights[i] = {row.weight_before, row.weight_after};
  }
  // The tiles from first_tile on, first those above, then those below.
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
    ClaheColumn columns[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const TileNeighbours of_column = neighbours(x + i, job.inverse_width, tiles.nx);
      columns[i] =
          ClaheColumn(fours + (pair_of(of_column, tiles.nx) - first_pair) * kBins, of_column);
    }
    const std::uint8_t *in = job.in.plane.row(y) + x;
    std::uint8_t *out = job.out.row(y) + x;
    if (plain && x + 4 <= width) {
      // Rows are loaded before the rows above them are finished.
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

/// The end of the rows with the same neighbours as row y, at most y + kMostRows and at most `end`.
/// All threads call it.
__device__ int end_of_kind(const ClaheJob &job, int y, int end) {
  const int i = static_cast<int>(threadIdx.x);
  const TileNeighbours first = neighbours(y, job.inverse_height, job.tiles.ny);
  const TileNeighbours mine = neighbours(y + i, job.inverse_height, job.tiles.ny);
  const bool same = mine.before == first.before && mine.after == first.after;
  return y + __syncthreads_count(same && i < kMostRows && y + i < end);
}

/// The first row of a block. Rows between the centres of the same tiles are of one kind. As far as
/// there are enough blocks, a block gets rows of one kind only: with rows of two kinds it would
/// compute twice as many mappings.
__device__ int first_row(const ClaheJob &job, int block) {
  const int height = job.out.height, blocks = static_cast<int>(gridDim.x);
  const int tile = job.tiles.height, kinds = job.tiles.ny + 1;
  // The first row of a kind, and the block that gets it.
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
    clahe_kernel(const __grid_constant__ ClaheJob job) {
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

}  // namespace

void run_clahe(Cuda &cuda, Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
               const EqualizeParams &p) {
  auto job = make_clahe_job<ClaheJob>(in, out, p);
  job.in = histogram::PlaneVectors<const std::uint8_t>(in, histogram::is_aligned(in, 16));
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

}  // namespace cudascan::equalize
