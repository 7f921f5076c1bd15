// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Accesses to shared memory by 32-bit addresses that the compiler keeps in registers. It otherwise
/// works out addresses anew at every use, which costs more instructions than the accesses themselves.
#pragma once
#include <cstdint>

namespace cudascan {

/// A value that the compiler knows nothing about, so that it is kept rather than computed again.
__device__ inline unsigned keep(unsigned value) {
  asm volatile("mov.u32 %0, %0;" : "+r"(value));
  return value;
}

/// The address of something in shared memory.
__device__ inline unsigned shared_address(const void *p) {
  return keep(static_cast<unsigned>(__cvta_generic_to_shared(p)));
}

__device__ inline void load_shared(unsigned address, std::uint32_t &v) {
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(address) : "memory");
}
__device__ inline void load_shared(unsigned address, std::uint64_t &v) {
  asm volatile("ld.shared.u64 %0, [%1];" : "=l"(v) : "r"(address) : "memory");
}
__device__ inline void load_shared(unsigned address, std::uint32_t &v, std::uint32_t &w) {
  asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(v), "=r"(w) : "r"(address) : "memory");
}
__device__ inline void load_shared(unsigned address, std::uint64_t &v, std::uint64_t &w) {
  asm volatile("ld.shared.v2.u64 {%0, %1}, [%2];" : "=l"(v), "=l"(w) : "r"(address) : "memory");
}
__device__ inline void store_shared(unsigned address, std::uint32_t v) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(v) : "memory");
}
__device__ inline void store_shared(unsigned address, std::uint64_t v) {
  asm volatile("st.shared.u64 [%0], %1;" ::"r"(address), "l"(v) : "memory");
}
__device__ inline void store_shared(unsigned address, std::uint32_t v, std::uint32_t w) {
  asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(address), "r"(v), "r"(w) : "memory");
}
__device__ inline void store_shared(unsigned address, std::uint64_t v, std::uint64_t w) {
  asm volatile("st.shared.v2.u64 [%0], {%1, %2};" ::"r"(address), "l"(v), "l"(w) : "memory");
}

}  // namespace cudascan
