// SPDX-License-Identifier: LGPL-2.1-or-later
// Samples of 16 bits: one launch counts, one computes the mappings, and one interpolates.
#include <algorithm>
#include <cstdint>

#include "kernels/base/launch.cuh"
#include "kernels/equalize/clahe.cuh"
#include "kernels/equalize/clahe_job.cuh"
#include "kernels/equalize/mapping.h"
#include "kernels/histogram/block_team.cuh"

namespace cudascan::equalize {
namespace {

/// Up to 65536 bins for each tile, in device memory.
struct DeepClaheJob {
  Plane<const std::uint16_t> in;
  Plane<std::uint16_t> out;
  Tiles tiles;
  Range range;
  int limit;
  float scale, inverse_width, inverse_height;
  std::uint32_t amount;
  std::uint32_t *counts;  // for each tile, range.count
  std::uint16_t *maps;    // the same
};

constexpr int kRun = 8;  // neighbouring samples that a thread counts

__global__ void count_tiles_kernel(const __grid_constant__ DeepClaheJob job) {
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
    map_tiles_kernel(const __grid_constant__ DeepClaheJob job) {
  __shared__ BlockTeamMemory memory;
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * job.range.count;
  BlockTeam team(job.counts + first, job.range.count, memory);
  std::uint32_t mine = 0, clipped;
  for (int i = team.begin(); i < team.end(); ++i)
    mine += max(static_cast<int>(team.count(i)) - job.limit, 0);
  team.before(mine, clipped);
  const ClippedShare share = share_out(static_cast<int>(clipped), job.range.count);
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

__global__ void interpolate_kernel(const __grid_constant__ DeepClaheJob job) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= job.in.width) return;
  const std::uint16_t sample = job.in.row(y)[x];
  if (job.amount == 0) {
    job.out.row(y)[x] = sample;
    return;
  }
  const int index = job.range.index_of_sample(sample);
  const TileNeighbours columns = neighbours(x, job.inverse_width, job.tiles.nx);
  const TileNeighbours rows = neighbours(y, job.inverse_height, job.tiles.ny);
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

}  // namespace

void run_clahe(Cuda &cuda, Plane<const std::uint16_t> in, Plane<std::uint16_t> out,
               const EqualizeParams &p) {
  auto job = make_clahe_job<DeepClaheJob>(in, out, p);
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
