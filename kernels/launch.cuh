// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Launches kernels, on request overlapped with the kernel before them in the stream (programmatic
/// dependent launch), on sm_90 and newer: such a kernel calls let_next_kernel_start() and
/// wait_for_kernels_before(), see ptx.cuh, and sets itself up while the other ends. Elsewhere kernels
/// follow one another as usual.
#pragma once
#include <cuda_runtime.h>

#include <type_traits>

#include "kernels/cuda_check.cuh"
#include "kernels/ptx.cuh"

namespace cudascan {

struct LaunchShape {
  dim3 blocks, threads;
  int shared = 0;  ///< bytes of dynamic shared memory
  /// Only for code that was compiled for sm_90 or newer: older does not wait.
  bool overlap = false;
};

template <typename... Args>
void launch(void (*kernel)(Args...), const LaunchShape &shape, cudaStream_t stream,
            const std::type_identity_t<Args> &...args) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = shape.blocks;
  config.blockDim = shape.threads;
  config.dynamicSmemBytes = shape.shared;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = shape.overlap ? 1 : 0;
  CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, args...));
}

}  // namespace cudascan
