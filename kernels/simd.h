// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// One source, several instruction sets, on compilers and processors that have them. A file of loops
/// is included once per instruction set, each time in a namespace of its own, whose name is CUDASCAN_ISA:
///
///     #define CUDASCAN_LOOPS "kernels/op_rows.inc"
///     #include "kernels/simd_each.inc"
///
/// after which CUDASCAN_FASTEST(kRows) is baseline::kRows, avx2::kRows or avx512::kRows.
/// Everything such a file includes must have been included before: code of a header that is compiled
/// for AVX-512 and shared with other files would run on processors that lack it.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define CUDASCAN_X86_64
// 512 bits are stated because GCC prefers 256 otherwise; the loops here are long enough to gain.
#define CUDASCAN_BEGIN_AVX512                                           \
  _Pragma("GCC push_options") _Pragma("GCC target(\"arch=x86-64-v4\")") \
      _Pragma("GCC target(\"prefer-vector-width=512\")")
#define CUDASCAN_BEGIN_AVX2 _Pragma("GCC push_options") _Pragma("GCC target(\"arch=x86-64-v3\")")
#define CUDASCAN_END_ISA _Pragma("GCC pop_options")
#endif

/// What has this name in the namespace for the processor that runs.
#ifdef CUDASCAN_X86_64
#define CUDASCAN_FASTEST(name)                          \
  (__builtin_cpu_supports("x86-64-v4")   ? avx512::name \
   : __builtin_cpu_supports("x86-64-v3") ? avx2::name   \
                                         : baseline::name)
#else
#define CUDASCAN_FASTEST(name) (baseline::name)
#endif
