// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Queues the kernels of openings.cuh. For the files that contain them.
#pragma once
#include <cuda_runtime.h>

#include "kernels/base/launch.cuh"
#include "kernels/linearopen/opening.cuh"
#include "kernels/linearopen/openings.cuh"

namespace cudascan::linearopen {

template <typename T, int lanes, int group>
__global__ void __launch_bounds__((Form<T, lanes>::kMostThreads), 1)
    open_kernel(const __grid_constant__ OpenJob<T> job) {
  using Work = LineStrip<T, lanes, group>;
  let_next_kernel_start();
  Work strip(job, {blockIdx.x, blockIdx.y, blockIdx.z},
             reinterpret_cast<typename Work::Row *>(dynamic_shared_memory()));
  if (!strip.any()) return;
  wait_for_kernels_before();
  strip.open();
}

/// The kernel for a length. Only wide strips have segments shorter than chunks.
template <typename T, int lanes, int group = Form<T, lanes>::kRows>
auto open_kernel_of(int length) {
  if constexpr (lanes == kMostLanes && group > 1)
    if (length <= group) return open_kernel_of<T, lanes, group / 2>(length);
  return open_kernel<T, lanes, group>;
}
template <typename T>
auto kernel_of(int lanes, int length) {
  return lanes == kMostLanes ? open_kernel_of<T, kMostLanes>(length)
         : lanes == 8        ? open_kernel_of<T, 8>(length)
         : lanes == 4        ? open_kernel_of<T, 4>(length)
                             : open_kernel_of<T, 1>(length);
}

template <typename T>
void queue_openings(Cuda &cuda, const Cuts &cuts, dim3 blocks, const OpenJob<T> &job) {
  const LaunchShape shape{blocks, cuts.threads, cuts.bytes, cuda.code_architecture() >= 90};
  launch(cuda, kernel_of<T>(cuts.lanes, job.length), shape, job);
}

}  // namespace cudascan::linearopen
