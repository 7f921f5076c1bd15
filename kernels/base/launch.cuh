// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Launches kernels. On sm_90 and newer, a kernel can overlap with the previous kernel of the
/// stream (programmatic dependent launch): it calls let_next_kernel_start() and
/// wait_for_kernels_before(), see ptx.cuh, and prepares its work while the other kernel ends. On
/// older GPUs kernels run one after another as usual.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "kernels/base/cuda_check.cuh"
#include "kernels/base/ptx.cuh"
#include "kernels/exec.h"

namespace cudascan {

/// x / by, rounded up.
constexpr int divide_up(std::int64_t x, int by) {
  return static_cast<int>((x + by - 1) / by);
}

struct LaunchShape {
  dim3 blocks, threads;
  int shared = 0;  ///< bytes of dynamic shared memory
  /// Only for code compiled for sm_90 or newer: older code does not wait.
  bool overlap = false;
  /// All blocks run at the same time, so that they can wait for one another. So the device must
  /// have room for all of them.
  bool together = false;
};

/// Queues a kernel. Throws Error if CUDA refuses.
template <typename... Args>
void launch(Cuda &cuda, void (*kernel)(Args...), const LaunchShape &shape,
            const std::type_identity_t<Args> &...args) {
  cuda.load(reinterpret_cast<const void *>(kernel));
  if (cuda.only_loads()) return;
  cudaLaunchAttribute attributes[2]{};
  unsigned n = 0;
  if (shape.overlap) {
    attributes[n].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[n++].val.programmaticStreamSerializationAllowed = 1;
  }
  if (shape.together) {
    attributes[n].id = cudaLaunchAttributeCooperative;
    attributes[n++].val.cooperative = 1;
  }
  cudaLaunchConfig_t config{};
  config.gridDim = shape.blocks;
  config.blockDim = shape.threads;
  config.dynamicSmemBytes = shape.shared;
  config.stream = cuda.stream();
  config.attrs = attributes;
  config.numAttrs = n;
  CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, args...));
}

}  // namespace cudascan
