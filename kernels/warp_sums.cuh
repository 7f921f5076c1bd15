// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Sums over the lanes of a warp; all lanes call them.
#pragma once
#include <cstdint>

namespace cudascan {

inline constexpr unsigned kWholeWarp = 0xffffffff;

/// Adds up the values of the lanes up to and including this one.
__device__ inline std::uint32_t inclusive_scan(std::uint32_t v) {
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2)
    asm("{ .reg .pred p; .reg .u32 r; shfl.sync.up.b32 r|p, %0, %1, 0, -1; @p add.u32 %0, r, %0; }"
        : "+r"(v)
        : "r"(distance));
  return v;
}
__device__ inline std::uint64_t inclusive_scan(std::uint64_t v) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const std::uint64_t below = __shfl_up_sync(kWholeWarp, v, distance);
    if (lane >= distance) v += below;
  }
  return v;
}

/// Adds up one value per lane.
__device__ inline std::uint32_t warp_sum(std::uint32_t v) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(kWholeWarp, v);
#else
#pragma unroll
  for (int mask = 16; mask; mask /= 2) v += __shfl_xor_sync(kWholeWarp, v, mask);
  return v;
#endif
}
__device__ inline std::uint64_t warp_sum(std::uint64_t v) {
#pragma unroll
  for (int mask = 16; mask; mask /= 2) v += __shfl_xor_sync(kWholeWarp, v, mask);
  return v;
}

}  // namespace cudascan
