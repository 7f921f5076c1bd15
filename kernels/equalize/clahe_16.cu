// SPDX-License-Identifier: LGPL-2.1-or-later
// Samples of 16 bits: one launch counts the tiles, one makes their mappings, and one interpolates.
// Counts and mappings are looked up in shared memory. If it is too small for the mappings of the
// four tiles around a pixel, a block reads them one after another for the same pixels. Tiles with
// far fewer pixels than bins have another kernel, see clahe_sparse.cuh.
#include <algorithm>
#include <cstdint>

#include "kernels/base/launch.cuh"
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
  auto *const counts = reinterpret_cast<std::uint32_t *>(dynamic_shared_memory());
  const Tiles &tiles = job.tiles;
  const int part = blockIdx.x % job.parts, item = blockIdx.x / job.parts;
  const int tile = item / job.slices, slice = item % job.slices;
  const int first_bin = part * job.part_bins;
  const int bins = min(job.part_bins, job.range.count - first_bin);
  const int x0 = tile % tiles.nx * tiles.width;
  const int y0 = tile / tiles.nx * tiles.height + tiles.height * slice / job.slices;
  const int rows = tile / tiles.nx * tiles.height + tiles.height * (slice + 1) / job.slices - y0;
  for (int i = threadIdx.x; i < bins; i += kThreads) counts[i] = 0;
  __syncthreads();
  constexpr int kBatch = 8;  // samples that are loaded at once
  const int width = job.in.width, height = job.in.height, threads = kThreads;
  PixelSteps walk(threadIdx.x, kThreads, tiles.width);
  while (walk.y < rows) {
    unsigned index[kBatch];
#pragma unroll
    for (unsigned &i : index) {
      i = ~0u;
      if (walk.y < rows)
        i = job.range.index_of_sample(
                job.in.row(source_index(y0 + walk.y, height))[source_index(x0 + walk.x, width)]) -
            first_bin;
      walk.next();
    }
#pragma unroll
    for (const unsigned i : index)
      if (i < static_cast<unsigned>(bins)) atomicAdd(counts + i, 1u);
  }
  __syncthreads();
  std::uint32_t *const to = job.counts + static_cast<std::size_t>(tile) * job.stride + first_bin;
  for (int i = threadIdx.x; i < bins; i += threads) {
    if (job.slices == 1)
      to[i] = counts[i];
    else if (counts[i] > 0)
      atomicAdd(to + i, counts[i]);
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

constexpr int kCellThreads = 512;

/// With all four mappings in shared memory, those of a bin together.
__global__ void __launch_bounds__(kCellThreads)
    interpolate_kernel(const __grid_constant__ DeepClaheJob job) {
  const CellChunk cell(job);
  if (cell.width <= 0 || cell.height <= 0) return;
  auto *const fours = reinterpret_cast<uint2 *>(dynamic_shared_memory());
  const std::uint16_t *const maps[] = {CellChunk::map(job, 0), CellChunk::map(job, 1),
                                       CellChunk::map(job, 2), CellChunk::map(job, 3)};
  for (int i = threadIdx.x; i < job.range.count; i += kCellThreads)
    fours[i] = {maps[0][i] | static_cast<unsigned>(maps[1][i]) << 16,
                maps[2][i] | static_cast<unsigned>(maps[3][i]) << 16};
  __syncthreads();
  // A warp takes 32 columns at a time, and every eighth row.
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  constexpr int kRowStep = 8, kColumnStep = 32 * (kCellThreads / 32 / kRowStep);
  for (int x = warp / kRowStep * 32 + lane; x < cell.width; x += kColumnStep) {
    const TileNeighbours column = neighbours(cell.x + x, job.inverse_width, job.tiles.nx);
#pragma unroll 4
    for (int y = warp % kRowStep; y < cell.height; y += kRowStep) {
      const int index = job.range.index_of_sample(job.in.row(cell.y + y)[cell.x + x]);
      const TileNeighbours row = neighbours(cell.y + y, job.inverse_height, job.tiles.ny);
      const uint2 four = fours[index];
      const float mapped[4] = {
          static_cast<float>(four.x & 0xffff), static_cast<float>(four.x >> 16),
          static_cast<float>(four.y & 0xffff), static_cast<float>(four.y >> 16)};
      job.out.row(cell.y + y)[cell.x + x] = result(job, index, column, row, mapped);
    }
  }
}

constexpr int kKept = 16;  // pixels that a thread keeps, an even number

/// With one mapping at a time in shared memory.
__global__ void __launch_bounds__(kThreads)
    interpolate_in_turn_kernel(const __grid_constant__ DeepClaheJob job) {
  const CellChunk cell(job);
  if (cell.width <= 0 || cell.height <= 0) return;
  auto *const map = reinterpret_cast<std::uint16_t *>(dynamic_shared_memory());
  const int pixels = cell.width * cell.height, t = threadIdx.x;
  const unsigned bins = job.range.count;
  for (int begin = t; begin - t < pixels; begin += kKept * kThreads) {
    unsigned index[kKept / 2] = {}, mapped[4][kKept / 2] = {};  // pairs of pixels
    PixelSteps walk(begin, kThreads, cell.width);
#pragma unroll
    for (int k = 0; k < kKept; ++k, walk.next())
      if (walk.y < cell.height)
        index[k / 2] |= static_cast<unsigned>(
                            job.range.index_of_sample(job.in.row(cell.y + walk.y)[cell.x + walk.x]))
                        << 16 * (k % 2);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (i > 0 && CellChunk::map(job, i) == CellChunk::map(job, i - 1)) {
#pragma unroll
        for (int k = 0; k < kKept / 2; ++k) mapped[i][k] = mapped[i - 1][k];
        continue;
      }
#pragma unroll 1
      for (unsigned first = 0; first < bins; first += job.map_bins) {
        const auto n =
            static_cast<unsigned>(min(job.map_bins, job.stride - static_cast<int>(first)));
        __syncthreads();
        const auto *const from = reinterpret_cast<const uint4 *>(CellChunk::map(job, i) + first);
        auto *const to = reinterpret_cast<uint4 *>(map);
        for (unsigned v = t; v < n / 8; v += kThreads) to[v] = from[v];
        __syncthreads();
        const auto look_up = [&](unsigned index) -> unsigned {
          return index - first < n ? map[index - first] : 0;
        };
#pragma unroll
        for (int k = 0; k < kKept / 2; ++k)
          mapped[i][k] |= look_up(index[k] & 0xffff) | look_up(index[k] >> 16) << 16;
      }
    }
    walk = PixelSteps(begin, kThreads, cell.width);
#pragma unroll
    for (int k = 0; k < kKept; ++k, walk.next()) {
      if (walk.y >= cell.height) continue;
      const auto half = [&](unsigned pair) { return pair >> 16 * (k % 2) & 0xffff; };
      const int x = cell.x + walk.x, y = cell.y + walk.y;
      float four[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) four[i] = static_cast<float>(half(mapped[i][k / 2]));
      job.out.row(y)[x] = result(job, static_cast<int>(half(index[k / 2])),
                                 neighbours(x, job.inverse_width, job.tiles.nx),
                                 neighbours(y, job.inverse_height, job.tiles.ny), four);
    }
  }
}

}  // namespace

void run_clahe(Cuda &cuda, Plane<const std::uint16_t> in, Plane<std::uint16_t> out,
               const EqualizeParams &p) {
  auto job = make_clahe_job<DeepClaheJob>(in, out, p);
  if (job.amount == 0) return copy(cuda, in, out);
  job.in = in;
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

  constexpr int kBinBytes = sizeof(std::uint32_t);
  job.parts = divide_up(std::int64_t{bins} * kBinBytes, memory);
  job.part_bins = divide_up(bins, job.parts);
  const int resident = job.part_bins * kBinBytes > memory / 2 ? 1 : 2;
  job.slices =
      std::clamp(resident * cuda.multiprocessors() / (tiles * job.parts), 1, job.tiles.height);
  if (job.slices > 1) cuda.clear(job.counts, all_bins * kBinBytes);
  launch(cuda, count_tiles_kernel,
         {tiles * job.slices * job.parts, kThreads, job.part_bins * kBinBytes}, job);
  launch(cuda, map_tiles_kernel, {tiles, kThreads}, job);

  // Reading the mappings takes as long as reading some pixels for each bin.
  const int fours = bins * static_cast<int>(sizeof(uint2)), most_height = job.tiles.height + 1;
  const bool in_turn = fours > memory;
  const int pixels = in_turn ? kKept * kThreads : std::max(4 * bins, 8192);
  job.chunk_rows = std::clamp(pixels / job.tiles.width, 1, most_height);
  job.map_bins = std::min(job.stride, memory / 16 * 8);
  const dim3 cells(job.tiles.nx + 1, job.tiles.ny + 1, divide_up(most_height, job.chunk_rows));
  if (in_turn)
    launch(cuda, interpolate_in_turn_kernel,
           {cells, kThreads, job.map_bins * static_cast<int>(sizeof(std::uint16_t))}, job);
  else
    launch(cuda, interpolate_kernel, {cells, kCellThreads, fours}, job);
}

}  // namespace cudascan::equalize
