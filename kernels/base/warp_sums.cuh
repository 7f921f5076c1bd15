// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Sums and extremes over the lanes of a warp; all lanes call them.
#pragma once
#include <cstdint>

#include "kernels/base/ptx.cuh"

namespace cudascan {

inline constexpr unsigned kWholeWarp = 0xffffffff;

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
__device__ inline std::uint32_t warp_max(std::uint32_t v) {
#if __CUDA_ARCH__ >= 800
  return __reduce_max_sync(kWholeWarp, v);
#else
#pragma unroll
  for (int mask = 16; mask; mask /= 2) v = max(v, __shfl_xor_sync(kWholeWarp, v, mask));
  return v;
#endif
}
__device__ inline std::uint32_t warp_min(std::uint32_t v) {
  return ~warp_max(~v);
}
__device__ inline std::uint64_t warp_sum(std::uint64_t v) {
#pragma unroll
  for (int mask = 16; mask; mask /= 2) v += __shfl_xor_sync(kWholeWarp, v, mask);
  return v;
}
/// The sum of the values of this lane and of those below.
template <typename E>
__device__ E warp_scan(E v) {
  scan_step<1>(v);
  scan_step<2>(v);
  scan_step<4>(v);
  scan_step<8>(v);
  scan_step<16>(v);
  return v;
}

}  // namespace cudascan
