// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Sums over the lanes of a warp; all lanes call them.
#pragma once
#include <cstdint>

namespace cudascan {

inline constexpr unsigned kWholeWarp = 0xffffffff;

/// A step of an inclusive scan over the lanes: adds the value of the lane `distance` below, if
/// there is one.
template <int distance>
__device__ inline void scan_step(std::uint32_t &v) {
  asm volatile(
      "{ .reg .pred p; .reg .u32 r; shfl.sync.up.b32 r|p, %0, %1, 0, -1; @p add.u32 %0, r, %0; }"
      : "+r"(v)
      : "n"(distance));
}
template <int distance>
__device__ inline void scan_step(std::uint64_t &v) {
  auto low = static_cast<unsigned>(v), high = static_cast<unsigned>(v >> 32);
  asm volatile(
      "{ .reg .pred p; .reg .u32 l, h; shfl.sync.up.b32 l|p, %0, %2, 0, -1; "
      "shfl.sync.up.b32 h, %1, %2, 0, -1; @p add.cc.u32 %0, l, %0; @p addc.u32 %1, h, %1; }"
      : "+r"(low), "+r"(high)
      : "n"(distance));
  v = std::uint64_t{high} << 32 | low;
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
