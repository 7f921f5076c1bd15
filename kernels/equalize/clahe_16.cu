// SPDX-License-Identifier: LGPL-2.1-or-later
// Samples of 16 bits: one launch counts the tiles, one makes their mappings, and one interpolates.
// Counts and mappings are looked up in shared memory. If it is too small for the mappings of the
// four tiles around a pixel, a block reads the part that its pixels need, or one mapping after
// another. Tiles with far fewer pixels than bins have other kernels, see clahe_sparse.cuh.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "kernels/base/launch.cuh"
#include "kernels/base/ptx.cuh"
#include "kernels/base/warp_sums.cuh"
#include "kernels/equalize/clahe.cuh"
#include "kernels/equalize/clahe_sparse.cuh"
#include "kernels/equalize/deep_clahe_job.cuh"
#include "kernels/planes.h"

namespace cudascan::equalize {
namespace {

constexpr int kThreads = 1024;

/// Counts a part of the bins in a slice of a tile.
__global__ void __launch_bounds__(kThreads)
    count_tiles_kernel(const __grid_constant__ DeepClaheJob job) {
  auto *const words = reinterpret_cast<std::uint32_t *>(dynamic_shared_memory());
  const unsigned halves = job.halves;
  const Tiles &tiles = job.tiles;
  const int part = blockIdx.x % job.parts, item = blockIdx.x / job.parts;
  const int tile = item / job.slices, slice = item % job.slices;
  const int first_bin = part * job.part_bins;
  const int bins = min(job.part_bins, job.range.count - first_bin);
  const int x0 = tile % tiles.nx * tiles.width;
  const int y0 = tile / tiles.nx * tiles.height + tiles.height * slice / job.slices;
  const int rows = tile / tiles.nx * tiles.height + tiles.height * (slice + 1) / job.slices - y0;
  for (int i = threadIdx.x; i << halves < bins; i += kThreads) words[i] = 0;
  __syncthreads();
  constexpr int kBatch = 8;  // samples that are loaded at once
  const int threads = kThreads;
  PixelSteps walk(threadIdx.x, kThreads, tiles.width);
  while (walk.y < rows) {
    const SampleBatch<kBatch> batch(job.in, x0, y0, rows, walk);
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      const unsigned i = job.range.index_of_sample(batch.samples[k]) - first_bin;
      if (batch.inside >> k & 1 && i < static_cast<unsigned>(bins))
        atomicAdd(words + (i >> halves), 1u << 16 * (i & halves));
    }
  }
  __syncthreads();
  std::uint32_t *const to = job.counts + static_cast<std::size_t>(tile) * job.stride + first_bin;
  for (int i = threadIdx.x; i < bins; i += threads) {
    const std::uint32_t word = words[i >> halves];
    const std::uint32_t count = halves ? word >> 16 * (i % 2) & 0xffff : word;
    if (job.slices == 1)
      to[i] = count;
    else if (count > 0)
      atomicAdd(to + i, count);
  }
}

/// Makes the mapping of a tile.
__global__ void __launch_bounds__(kThreads)
    map_tiles_kernel(const __grid_constant__ DeepClaheJob job) {
  constexpr int kWarps = kThreads / 32;
  __shared__ std::uint32_t sums[2][kWarps];
  const int bins = job.range.count, t = threadIdx.x, lane = t % 32, warp = t / 32;
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * job.stride;
  const std::uint32_t *const counts = job.counts + first;
  std::uint32_t clipped = 0;
  for (int i = t; i < bins; i += kThreads)
    clipped += max(static_cast<int>(counts[i]) - job.limit, 0);
  clipped = warp_sum(clipped);
  if (lane == 0) sums[1][warp] = clipped;
  __syncthreads();
  const ClippedShare share = share_out(static_cast<int>(warp_sum(sums[1][lane])), bins);
  constexpr int kEach = 4;
  std::uint32_t before = 0;  // in the bins below those of this round
  int turn = 0;
  for (int begin = 0; begin < bins; begin += kThreads * kEach, turn = 1 - turn) {
    const int i = begin + t * kEach;
    std::uint32_t kept[kEach] = {}, mine = 0;
    if (i < bins) {
      const uint4 four = *reinterpret_cast<const uint4 *>(counts + i);
      const std::uint32_t count[kEach] = {four.x, four.y, four.z, four.w};
#pragma unroll
      for (int k = 0; k < kEach; ++k) {
        if (i + k < bins)
          kept[k] = clipped_count(static_cast<int>(count[k]), i + k, job.limit, share);
        mine += kept[k];
      }
    }
    const std::uint32_t up_to_lane = warp_scan(mine);
    if (lane == 31) sums[turn][warp] = up_to_lane;
    __syncthreads();
    const std::uint32_t up_to_warp = warp_scan(sums[turn][lane]);
    std::uint32_t sum = before + up_to_lane - mine;
    if (warp > 0) sum += __shfl_sync(kWholeWarp, up_to_warp, max(warp - 1, 0));
    before += __shfl_sync(kWholeWarp, up_to_warp, kWarps - 1);
    unsigned mapped[kEach];
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      sum += kept[k];
      mapped[k] = tile_map(static_cast<int>(sum), job.scale, bins);
    }
    if (i < bins)
      *reinterpret_cast<uint2 *>(job.maps + first + i) = {mapped[0] | mapped[1] << 16,
                                                          mapped[2] | mapped[3] << 16};
  }
}

/// The new values of a bin in four tiles.
__device__ void split(const uint2 &four, float (&mapped)[4]) {
  mapped[0] = static_cast<float>(four.x & 0xffff);
  mapped[1] = static_cast<float>(four.x >> 16);
  mapped[2] = static_cast<float>(four.y & 0xffff);
  mapped[3] = static_cast<float>(four.y >> 16);
}

constexpr int kCellThreads = 512, kCellBlocks = 3;  // of a multiprocessor
constexpr int kMostRows = 512;                      // of a chunk

/// A half of a word, times a weight. `offset` is -2^23 times the weight. The sum is rounded once,
/// and the result is the same as that of rounding the product alone.
template <int i>
__device__ float weighted_half(unsigned word, float weight, float offset) {
  const float above = __uint_as_float(__byte_perm(word, 0x4b000000, i ? 0x7432 : 0x7410));
  return fmaf(above, weight, offset);  // `above` is 2^23 above the half
}

/// The weights of two neighbouring tiles.
struct Weights {
  float before, after;
};

/// With all four mappings in shared memory, those of a bin together.
__global__ void __launch_bounds__(kCellThreads, kCellBlocks)
    interpolate_kernel(const __grid_constant__ DeepClaheJob job) {
  const CellChunk cell(job);
  if (cell.width <= 0 || cell.height <= 0) return;
  __shared__ Weights rows[kMostRows];
  auto *const fours = reinterpret_cast<uint2 *>(dynamic_shared_memory());
  const std::uint16_t *const maps[] = {CellChunk::map(job, 0), CellChunk::map(job, 1),
                                       CellChunk::map(job, 2), CellChunk::map(job, 3)};
  for (int i = threadIdx.x; i < job.range.count; i += kCellThreads)
    fours[i] = {maps[0][i] | static_cast<unsigned>(maps[1][i]) << 16,
                maps[2][i] | static_cast<unsigned>(maps[3][i]) << 16};
  for (int y = threadIdx.x; y < cell.height; y += kCellThreads) {
    const TileNeighbours row = neighbours(cell.y + y, job.inverse_height, job.tiles.ny);
    rows[y] = {row.weight_before, row.weight_after};
  }
  __syncthreads();
  // A warp takes 32 columns at a time, and every eighth row.
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  constexpr int kRowStep = 8, kColumnStep = 32 * (kCellThreads / 32 / kRowStep), kBatch = 8;
  for (int x = warp / kRowStep * 32 + lane; x < cell.width; x += kColumnStep) {
    const TileNeighbours column = neighbours(cell.x + x, job.inverse_width, job.tiles.nx);
    const float before = column.weight_before, before_offset = -0x1p23f * before;
    const float after = column.weight_after, after_offset = -0x1p23f * after;
    for (int first = warp % kRowStep; first < cell.height; first += kBatch * kRowStep) {
      std::uint16_t samples[kBatch];  // all are read before the first result is written
#pragma unroll
      for (int k = 0; k < kBatch; ++k) {
        const int y = min(first + k * kRowStep, cell.height - 1);
        samples[k] = job.in.row(cell.y + y)[cell.x + x];
      }
#pragma unroll
      for (int k = 0; k < kBatch; ++k) {
        const int y = first + k * kRowStep;
        if (y >= cell.height) break;
        const int index = job.range.index_of_sample(samples[k]);
        const uint2 four = fours[index];
        const Weights row = rows[y];
        // As interpolate_unrounded().
        const float above = weighted_half<0>(four.x, before, before_offset) +
                            weighted_half<1>(four.x, after, after_offset);
        const float below = weighted_half<0>(four.y, before, before_offset) +
                            weighted_half<1>(four.y, after, after_offset);
        const int value = round_half_even(above * row.before + below * row.after);
        job.out.row(cell.y + y)[cell.x + x] =
            static_cast<std::uint16_t>(job.range.sample(blend(index, value, job.amount)));
      }
    }
  }
}

constexpr int kKept = 16;  // pixels that a thread keeps, an even number

/// The value of pixel k of so many pairs.
__device__ unsigned half(const unsigned (&pairs)[kKept / 2], int k) {
  return pairs[k / 2] >> 16 * (k % 2) & 0xffff;
}

/// With the four mappings of the bins between the chunk's lowest and highest in shared memory, or
/// one mapping at a time.
__global__ void __launch_bounds__(kThreads)
    interpolate_parts_kernel(const __grid_constant__ DeepClaheJob job) {
  __shared__ unsigned lowest[kThreads / 32], highest[kThreads / 32];
  const CellChunk cell(job);
  if (cell.width <= 0 || cell.height <= 0) return;
  const int t = threadIdx.x;
  unsigned index[kKept / 2] = {};  // pairs of pixels
  unsigned low = 0xffff, high = 0;
  PixelSteps walk(t, kThreads, cell.width);
  std::uint16_t samples[kKept];
#pragma unroll
  for (std::uint16_t &sample : samples) {  // beyond the chunk those of its last row
    sample = job.in.row(cell.y + min(walk.y, cell.height - 1))[cell.x + walk.x];
    walk.next();
  }
#pragma unroll
  for (int k = 0; k < kKept; ++k) {
    const unsigned i = job.range.index_of_sample(samples[k]);
    low = min(low, i);
    high = max(high, i);
    index[k / 2] |= i << 16 * (k % 2);
  }
  low = warp_min(low);
  high = warp_max(high);
  if (t % 32 == 0) {
    lowest[t / 32] = low;
    highest[t / 32] = high;
  }
  __syncthreads();
  const unsigned first = warp_min(lowest[t % 32]) / 4 * 4;
  const unsigned n = warp_max(highest[t % 32]) / 4 * 4 + 4 - first;
  // Stores each pixel. Its place is found again, because there are no registers for all places.
  const auto finish = [&](const auto &mapped_of) {
    walk = PixelSteps(keep(t), kThreads, cell.width);
#pragma unroll
    for (int k = 0; k < kKept; ++k, walk.next()) {
      if (walk.y >= cell.height) continue;
      const int x = cell.x + walk.x, y = cell.y + walk.y;
      float mapped[4];
      mapped_of(k, mapped);
      job.out.row(y)[x] = result(job, static_cast<int>(half(index, k)),
                                 neighbours(x, job.inverse_width, job.tiles.nx),
                                 neighbours(y, job.inverse_height, job.tiles.ny), mapped);
    }
  };
  if (n * sizeof(uint2) <= job.map_bins * sizeof(std::uint16_t)) {
    auto *const fours = reinterpret_cast<uint2 *>(dynamic_shared_memory());
    for (unsigned i = 4 * t; i < n; i += 4 * kThreads) {
      uint2 map[4];  // of four bins each
#pragma unroll
      for (int k = 0; k < 4; ++k)
        map[k] = *reinterpret_cast<const uint2 *>(CellChunk::map(job, k) + first + i);
      fours[i] = {__byte_perm(map[0].x, map[1].x, 0x5410), __byte_perm(map[2].x, map[3].x, 0x5410)};
      fours[i + 1] = {__byte_perm(map[0].x, map[1].x, 0x7632),
                      __byte_perm(map[2].x, map[3].x, 0x7632)};
      fours[i + 2] = {__byte_perm(map[0].y, map[1].y, 0x5410),
                      __byte_perm(map[2].y, map[3].y, 0x5410)};
      fours[i + 3] = {__byte_perm(map[0].y, map[1].y, 0x7632),
                      __byte_perm(map[2].y, map[3].y, 0x7632)};
    }
    __syncthreads();
    finish([&](int k, float(&mapped)[4]) { split(fours[half(index, k) - first], mapped); });
    return;
  }
  auto *const map = reinterpret_cast<std::uint16_t *>(dynamic_shared_memory());
  const unsigned bins = job.range.count;
  unsigned mapped[4][kKept / 2] = {};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (i > 0 && CellChunk::map(job, i) == CellChunk::map(job, i - 1)) {
#pragma unroll
      for (int k = 0; k < kKept / 2; ++k) mapped[i][k] = mapped[i - 1][k];
      continue;
    }
#pragma unroll 1
    for (unsigned begin = 0; begin < bins; begin += job.map_bins) {
      const auto size =
          static_cast<unsigned>(min(job.map_bins, job.stride - static_cast<int>(begin)));
      __syncthreads();
      const auto *const from = reinterpret_cast<const uint4 *>(CellChunk::map(job, i) + begin);
      auto *const to = reinterpret_cast<uint4 *>(map);
      for (unsigned v = t; v < size / 8; v += kThreads) to[v] = from[v];
      __syncthreads();
      const auto look_up = [&](unsigned index) -> unsigned {
        return index - begin < size ? map[index - begin] : 0;
      };
#pragma unroll
      for (int k = 0; k < kKept / 2; ++k)
        mapped[i][k] |= look_up(index[k] & 0xffff) | look_up(index[k] >> 16) << 16;
    }
  }
  finish([&](int k, float(&four)[4]) {
#pragma unroll
    for (int i = 0; i < 4; ++i) four[i] = static_cast<float>(half(mapped[i], k));
  });
}

/// Divides the tiles' rows and bins among blocks; each multiprocessor runs one at a time. Returns
/// the memory of a block.
int divide_counting(DeepClaheJob &job, int memory, int multiprocessors) {
  const int bins = job.range.count, tiles = job.tiles.nx * job.tiles.ny;
  constexpr int kMost = 0xffff;  // pixels of a slice whose counts are in halves of words
  job.halves = bins > memory / 4 && job.tiles.width <= kMost;
  const int most_bins = job.halves ? memory / 4 * 2 : memory / 4;
  job.parts = divide_up(bins, most_bins);
  job.part_bins = divide_up(bins, job.parts);
  const int bytes = divide_up(job.part_bins, job.halves ? 2 : 1) * 4;
  const int least = job.halves ? divide_up(job.tiles.height, kMost / job.tiles.width) : 1;
  const int most = std::min(std::max(least, multiprocessors / tiles) + 8, job.tiles.height);
  std::int64_t best = std::numeric_limits<std::int64_t>::max();
  for (int slices = least; slices <= most; ++slices) {
    // Clearing and storing the counts takes as long as reading some pixels.
    const std::int64_t rounds =
        divide_up(std::int64_t{tiles} * job.parts * slices, multiprocessors);
    const std::int64_t time = rounds * (job.tiles.pixels() / slices + job.part_bins / 4);
    if (time >= best) continue;
    best = time;
    job.slices = slices;
  }
  return bytes;
}

/// The rows of chunks that all multiprocessors finish soonest.
/// @param blocks  that run at the same time
int divide_cells(const DeepClaheJob &job, int blocks) {
  const Tiles &tiles = job.tiles;
  // Each block reads the mappings, which takes as long as a pixel for each bin.
  std::int64_t best = std::numeric_limits<std::int64_t>::max();
  int best_rows = 1;
  for (int chunks = 1; chunks <= tiles.height + 1; ++chunks) {
    const int rows = divide_up(tiles.height + 1, chunks);
    if (rows > kMostRows) continue;
    // Cells at the upper and the lower edge are half as high.
    const std::int64_t in_column = std::int64_t{tiles.ny - 1} * divide_up(tiles.height, rows) +
                                   2 * divide_up(tiles.height / 2 + 1, rows);
    const std::int64_t rounds = divide_up((tiles.nx + 1) * in_column, blocks);
    const std::int64_t time = rounds * (std::int64_t{rows} * tiles.width + job.range.count);
    if (time >= best) continue;
    best = time;
    best_rows = rows;
  }
  return best_rows;
}

}  // namespace

void run_clahe(Cuda &cuda, Plane<const std::uint16_t> in, Plane<std::uint16_t> out,
               const EqualizeParams &p) {
  auto job = make_clahe_job<DeepClaheJob>(in, out, p);
  if (job.amount == 0) return copy(cuda, in, out);
  job.in = in;
  job.chunks_across = 1;
  job.chunk_columns = job.tiles.width + 1;
  const int tiles = job.tiles.nx * job.tiles.ny, bins = job.range.count;
  const int memory = cuda.most_shared_memory() - 1024;  // besides what kernels have of their own
  if (job.tiles.pixels() <= bins / 4 &&
      4 * SparseTile::vectors(job) * static_cast<int>(sizeof(uint4)) <= memory)
    return run_sparse(cuda, job, memory);
  job.stride = divide_up(bins, 8) * 8;
  const std::size_t all_bins = static_cast<std::size_t>(tiles) * job.stride;
  job.counts = static_cast<std::uint32_t *>(
      cuda.scratch(all_bins * (sizeof(std::uint32_t) + sizeof(std::uint16_t))));
  job.maps = reinterpret_cast<std::uint16_t *>(job.counts + all_bins);

  const int count_bytes = divide_counting(job, memory, cuda.multiprocessors());
  if (job.slices > 1) cuda.clear(job.counts, all_bins * sizeof(std::uint32_t));
  launch(cuda, count_tiles_kernel, {tiles * job.slices * job.parts, kThreads, count_bytes}, job);
  launch(cuda, map_tiles_kernel, {tiles, kThreads}, job);

  const int fours = bins * static_cast<int>(sizeof(uint2)), most_height = job.tiles.height + 1;
  const auto cells = [&] {
    return dim3(job.tiles.nx + 1, job.tiles.ny + 1,
                job.chunks_across * divide_up(most_height, job.chunk_rows));
  };
  const int rows = kMostRows * static_cast<int>(sizeof(Weights));
  if (fours + rows <= memory) {
    const int together = std::min(kCellBlocks, (memory + 1024) / (fours + rows + 1024));
    job.chunk_rows = divide_cells(job, together * cuda.multiprocessors());
    launch(cuda, interpolate_kernel, {cells(), kCellThreads, fours}, job);
    return;
  }
  // Pixels near each other have few of the bins.
  constexpr int kSide = 128;
  static_assert(kSide * kSide <= kKept * kThreads);
  job.chunks_across = divide_up(job.tiles.width + 1, kSide);
  job.chunk_columns = divide_up(job.tiles.width + 1, job.chunks_across);
  job.chunk_rows = std::min(kKept * kThreads / job.chunk_columns, most_height);
  job.map_bins = memory / 16 * 8;
  launch(cuda, interpolate_parts_kernel,
         {cells(), kThreads, job.map_bins * static_cast<int>(sizeof(std::uint16_t))}, job);
}

}  // namespace cudascan::equalize
