// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/rank/cross_modes.cuh"

#include <algorithm>

#include "kernels/swofilter/rank/launches.cuh"

namespace cudascan::swo {
namespace {

/// Shared memory that the kernel has of its own.
constexpr int kStaticBytes = 1024;

__global__ void __launch_bounds__(kCrossModeThreads)
    cross_mode_kernel(const __grid_constant__ CrossModeJob job) {
  CrossModeTile(job, dynamic_shared_memory())();
}

}  // namespace

void mode_of_cross(Cuda &cuda, const SelectionJob<std::uint16_t> &selection) {
  const int rx = selection.rx, ry = selection.ry;
  CrossModeJob job{selection.in, selection.out, rx, ry, 0, 0, 0};
  // Columns are in different banks.
  job.row_pitch = kCrossModeTile + 2 * rx;
  job.column_pitch = (kCrossModeTile + 2 * ry) / 4 * 4 + 2;
  // All warps have counters for the values of natural pictures. With fewer, some warps rest.
  const int room = cuda.most_shared_memory() - kStaticBytes - job.counters_begin();
  job.counter_bytes = std::max(int{sizeof(ValueNumbers)}, std::min(4 * job.samples(), room));
  launch(cuda, cross_mode_kernel,
         {dim3(divide_up(job.out.width, kCrossModeTile), divide_up(job.out.height, kCrossModeTile)),
          kCrossModeThreads, job.counters_begin() + job.counter_bytes},
         job);
}

}  // namespace cudascan::swo
