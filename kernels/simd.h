// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// One source, several instruction sets, on compilers and processors that have them. A file of loops
/// is included once per instruction set, each time in a namespace of its own:
///
///     #define CUDASCAN_ISA baseline
///     #include "kernels/op_rows.inc"
///     #undef CUDASCAN_ISA
///     #ifdef CUDASCAN_X86_64
///     CUDASCAN_BEGIN_AVX512
///     #define CUDASCAN_ISA avx512
///     ...
///     CUDASCAN_END_ISA
///
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
