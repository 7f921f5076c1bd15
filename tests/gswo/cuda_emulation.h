// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Makes the CUDA branch of a generated filter ordinary C++, for emulator.h. This checks indices,
/// tiles, halos and barriers, but not the behaviour of compilers and GPUs.
#pragma once
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>

#define __CUDACC_RTC__ 1
#define __global__
#define __device__
#define __constant__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ static

struct EmulatedPlace {
  int x, y, z;
};
static EmulatedPlace blockIdx, gridDim, blockDim, threadIdx;
static void (*emulated_barrier)();

static inline void __syncthreads() {
  emulated_barrier();
}

/// Checks what compilers are told to assume.
#define __builtin_assume(condition) ((condition) ? void() : std::abort())

#define EMULATED_ATOMIC(name, result)                          \
  template <class T>                                           \
  static inline T name(T *to, std::type_identity_t<T> value) { \
    return std::exchange(*to, (result));                       \
  }
EMULATED_ATOMIC(atomicAdd, *to + value)
EMULATED_ATOMIC(atomicAnd, *to &value)
EMULATED_ATOMIC(atomicOr, *to | value)
EMULATED_ATOMIC(atomicXor, *to ^ value)
EMULATED_ATOMIC(atomicMin, value < *to ? value : *to)
EMULATED_ATOMIC(atomicMax, value > *to ? value : *to)

struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
template <class T>
static inline T __ldg(const T *p) {
  return *p;
}

extern "C" void emulated_setup(EmulatedPlace **places, void (*barrier)()) {
  places[0] = &blockIdx;
  places[1] = &blockDim;
  places[2] = &threadIdx;
  places[3] = &gridDim;
  emulated_barrier = barrier;
}

template <class... A, std::size_t... I>
void emulated_call(void (*kernel)(A...), void **arguments, std::index_sequence<I...>) {
  kernel(*static_cast<A *>(arguments[I])...);
}
template <class... A>
void emulated_call(void (*kernel)(A...), void **arguments) {
  emulated_call(kernel, arguments, std::index_sequence_for<A...>());
}

#define EMULATED(kernel)                                \
  extern "C" void kernel##_emulated(void **arguments) { \
    emulated_call(kernel, arguments);                   \
  }
