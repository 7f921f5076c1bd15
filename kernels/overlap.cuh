// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Lets a kernel set itself up while the kernel before it in the stream ends (programmatic
/// dependent launch), on sm_90 and newer; elsewhere kernels follow one another as usual.
#pragma once
#include <cuda_runtime.h>

#include "kernels/cuda_check.cuh"

namespace cudascan {

/// The next kernel of the stream may start where this one leaves room.
__device__ inline void let_next_kernel_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/// Returns when the kernels before this one are done and their results can be seen: to be called
/// before any access to memory that they may use.
__device__ inline void wait_for_kernels_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Launches a kernel that calls wait_for_kernels_before().
/// @param can_overlap  whether the code of the kernel is for sm_90 or newer: older code does not wait
template <typename Job>
void launch_overlapped(void (*kernel)(Job), dim3 grid, int threads, int shared, cudaStream_t stream,
                       const Job &job, bool can_overlap) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = can_overlap ? 1 : 0;
  CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, job));
}

}  // namespace cudascan
