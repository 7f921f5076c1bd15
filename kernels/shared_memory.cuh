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
/// Reads as many words as `v` has.
__device__ inline void load_shared(unsigned address, std::uint32_t (&v)[2]) {
  asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];"
               : "=r"(v[0]), "=r"(v[1])
               : "r"(address)
               : "memory");
}
__device__ inline void load_shared(unsigned address, std::uint32_t (&v)[4]) {
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
               : "r"(address)
               : "memory");
}

}  // namespace cudascan
