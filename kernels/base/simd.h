// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// One source, several instruction sets, on compilers and processors that have them. A file of loops
/// is included once per instruction set, each time in a namespace of its own, whose name is CUDASCAN_ISA:
///
///     #define CUDASCAN_LOOPS "kernels/op_rows.inc"
///     #include "kernels/base/simd_each.inc"
///
/// after which CUDASCAN_FASTEST(kRows) is baseline::kRows, avx2::kRows or avx512::kRows: which one is
/// decided once for the process, and nowhere else.
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

namespace cudascan {

/// Instruction sets, each with all of the ones before. Only equalization has loops for the last.
enum class Isa { baseline, avx2, avx512, avx512vbmi };
inline constexpr const char *kIsaNames[] = {"baseline", "avx2", "avx512", "avx512vbmi"};

/// The last of them that this processor has.
inline Isa isa_of_processor() {
#ifdef CUDASCAN_X86_64
  __builtin_cpu_init();  // the library is being loaded
  if (__builtin_cpu_supports("x86-64-v4"))
    return __builtin_cpu_supports("avx512vbmi") ? Isa::avx512vbmi : Isa::avx512;
  if (__builtin_cpu_supports("x86-64-v3")) return Isa::avx2;
#endif
  return Isa::baseline;
}

/// The one whose loops run: that of the processor, or a lesser one that the environment variable
/// CUDASCAN_MAX_CPU_ISA names. Decided when the library is loaded.
[[gnu::visibility("hidden")]] extern const Isa kIsa;

/// Throws BadSetting if the variable had no name of an instruction set for its value.
void check_isa();

}  // namespace cudascan

/// What has this name in the namespace for kIsa.
#ifdef CUDASCAN_X86_64
#define CUDASCAN_FASTEST(name)                                \
  (::cudascan::kIsa >= ::cudascan::Isa::avx512 ? avx512::name \
   : ::cudascan::kIsa == ::cudascan::Isa::avx2 ? avx2::name   \
                                               : baseline::name)
#else
#define CUDASCAN_FASTEST(name) (baseline::name)
#endif
