// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Wolf's method decides a pixel by the largest deviation of the image. So each strip of rows is
/// walked twice. The first walk finds the statistics of the image, which all blocks exchange, and
/// the second one decides. In between the rows stay in shared memory if it has room for them, and
/// the sums of the first row are kept.
#pragma once
#include <algorithm>

#include "kernels/base/grid_barrier.cuh"
#include "kernels/base/launch.cuh"
#include "kernels/nick/decisions.cuh"
#include "kernels/nick/surface.cuh"
#include "kernels/nick/wolf.cuh"

namespace cudascan::nick {

using windowsums::Rows;

/// A block's own arrays, in front of its rows. (Blocks that wait for one another have only dynamic
/// shared memory in the emulation of the tests.)
template <typename Result, Rows rows>
struct WolfMemory {
  using T = typename Result::Sample;
  using Strip = windowsums::RowStrip<T, rows, true>;
  using Sizes = windowsums::WindowSizes<windowsums::kStageColumns>;

  std::uint64_t barriers[Strip::kBarriers];
  Sizes column_sizes;
  std::conditional_t<rows == Rows::tile, Sizes, windowsums::NoSizes> full_sizes;
  typename Result::Shared shared;
  union {
    alignas(16) unsigned char zeros[Strip::kZeros];  // while the windows are filled
    WolfStatistics parts[windowsums::kMaxWarps<T>];
  };
};
template <typename Result, Rows rows>
inline constexpr int kWolfMemory = (sizeof(WolfMemory<Result, rows>) + 127) / 128 * 128;

/// Statistics is the decision of the first walk, Result that of the second.
template <typename Statistics, typename Result, Rows rows>
__global__ void __launch_bounds__(32 * windowsums::kMaxWarps<typename Result::Sample>)
    wolf_kernel(const __grid_constant__ typename Result::Job job) {
  using Walk = windowsums::RowWalk<Result, rows>;
  using Memory = WolfMemory<Result, rows>;
  constexpr int kMemory = kWolfMemory<Result, rows>;
  constexpr bool kWhole = rows == Rows::tile;
  constexpr int kReserved = 1024;  // of the multiprocessor, for each block
  static_assert(kMemory + kReserved <= windowsums::kFixedMemory);
  unsigned char *const dynamic = dynamic_shared_memory();
  auto &memory = *reinterpret_cast<Memory *>(dynamic);
  auto &full_sizes = windowsums::choose<kWhole>(memory.full_sizes, memory.column_sizes);

  let_next_kernel_start();
  const windowsums::BlockPlace place(job);
  typename Walk::Row row(job, place, memory.column_sizes, full_sizes);
  typename Walk::Strip strip(job, place.inner ? job.inner_strips : job.edge_strips,
                             dynamic + kMemory, memory.barriers, memory.zeros, row.tile,
                             place.block);
  wait_for_kernels_before();
  strip.start();
  strip.prepare();
  if (!place.inner)
    windowsums::set_edge_sizes<Result, kWhole, kWhole>(memory.column_sizes, full_sizes,
                                                       memory.shared, job, row.tile);
  GridBarrier barrier(job.wolf_barrier);
  __syncthreads();
  strip.fill();

  const auto sums = strip.sums;
  if (job.wolf_part != WolfPart::result) {
    const typename Statistics::Shared unused{};
    Statistics decision(job, unused, row, strip.begin());
    windowsums::RowWalk<Statistics, rows> walk(job, strip, row, decision);
    place.inner ? walk.template run<true>() : walk.template run<false>();
    __syncthreads();
    const WolfStatistics mine = merge_threads(decision.statistics(row, place.inner), memory.parts);
    if (threadIdx.x == 0) job.wolf[blockIdx.x] = mine;
    if (job.wolf_part == WolfPart::statistics) return;
    barrier.meet();
    strip.begin_again(sums);
  }

  const WolfStatistics all = merge_blocks(job.wolf, gridDim.x, memory.parts);
  if (threadIdx.x == 0) Result::prepare(memory.shared, job, all);
  __syncthreads();
  Result decision(job, memory.shared, row, strip.begin());
  Walk walk(job, strip, row, decision);
  place.inner ? walk.template run<true>() : walk.template run<false>();
  decision.finish(row, strip.begin(), strip.end(), nullptr);
}

/// Queues both walks: in one launch if the GPU has room for all blocks at the same time, otherwise
/// in two.
/// @param part  statistics leaves those of each block in job.wolf
template <typename Statistics, typename Result, bool from_prefix>
void launch_wolf(Cuda &cuda, const windowsums::RowShape &shape, typename Result::Job job,
                 WolfPart part) {
  const auto go = [&](WolfPart next, bool together) {
    job.wolf_part = next;
    windowsums::with_rows<from_prefix>(shape, [&]<Rows rows>() {
      launch(cuda, wolf_kernel<Statistics, Result, rows>,
             {shape.blocks, shape.threads, kWolfMemory<Result, rows> + shape.shared,
              cuda.code_architecture() >= 90, together},
             job);
    });
  };
  if (part == WolfPart::all && shape.together) return go(part, true);
  go(WolfPart::statistics, false);
  if (part == WolfPart::all) go(WolfPart::result, false);
}

/// Merges the statistics of all blocks into the first.
[[maybe_unused]] static __global__ void merge_kernel(WolfStatistics *all, int n) {
  __shared__ WolfStatistics parts[8];
  const WolfStatistics merged = merge_blocks(all, n, parts);
  __syncthreads();
  if (threadIdx.x == 0) all[0] = merged;
}

}  // namespace cudascan::nick
