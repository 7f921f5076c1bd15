// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Sums and maxima over the threads of a block, and which block ends last.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/base/warp_sums.cuh"

namespace cudascan::binarize {

/// The sum of a value over the threads up to each one; all kThreads threads of the block call it.
template <int kThreads>
__device__ std::uint64_t scan_block(std::uint64_t value) {
  __shared__ std::uint64_t sums[kThreads / 32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  scan_step<1>(value);
  scan_step<2>(value);
  scan_step<4>(value);
  scan_step<8>(value);
  scan_step<16>(value);
  __syncthreads();  // the last call may still be reading
  if (lane == 31) sums[warp] = value;
  __syncthreads();
  for (int i = 0; i < warp; ++i) value += sums[i];
  return value;
}

/// The largest value of the block.
template <int kThreads>
__device__ std::uint64_t max_of_block(std::uint64_t value) {
  __shared__ std::uint64_t maxima[kThreads / 32];
#pragma unroll
  for (int mask = 16; mask; mask /= 2) {
    const std::uint64_t other = __shfl_xor_sync(~0u, value, mask);
    value = other > value ? other : value;
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) maxima[threadIdx.x / 32] = value;
  __syncthreads();
  for (int i = 0; i < kThreads / 32; ++i) value = maxima[i] > value ? maxima[i] : value;
  return value;
}

/// Whether all other blocks of the grid have come here, and what they wrote before can be read by
/// __ldcg(). All threads of each block call it once.
/// @param ended  0 at first
__device__ inline bool is_last_block(unsigned &ended) {
  __shared__ bool is_last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(&ended, 1u) + 1 == gridDim.x * gridDim.y;
  __syncthreads();
  if (is_last) __threadfence();
  return is_last;
}

}  // namespace cudascan::binarize
