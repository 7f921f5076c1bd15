// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Compiles one source for several instruction sets, if the compiler supports them. A file of loops
/// is included once per instruction set, each time in a namespace of its own with the name
/// CUDASCAN_ISA:
///
///     #define CUDASCAN_LOOPS "kernels/op_rows.inc"
///     #include "kernels/base/simd_each.inc"
///
/// After that CUDASCAN_FASTEST(kRows) is baseline::kRows, avx2::kRows or avx512::kRows. The choice
/// is made once for the process and only here. Everything such a file includes must have been
/// included before. Otherwise header code that is shared with other files could be compiled for
/// AVX-512 and run on processors without it.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define CUDASCAN_X86_64
// Asks for 512 bits because GCC prefers 256 otherwise; these loops are long enough to gain from it.
#define CUDASCAN_BEGIN_AVX512                                           \
  _Pragma("GCC push_options") _Pragma("GCC target(\"arch=x86-64-v4\")") \
      _Pragma("GCC target(\"prefer-vector-width=512\")")
#define CUDASCAN_BEGIN_AVX2 _Pragma("GCC push_options") _Pragma("GCC target(\"arch=x86-64-v3\")")
#define CUDASCAN_END_ISA _Pragma("GCC pop_options")
#endif

namespace cudascan {

/// Instruction sets; each includes the ones before. Only equalization has loops for the last one.
enum class Isa { baseline, avx2, avx512, avx512vbmi };
inline constexpr const char *kIsaNames[] = {"baseline", "avx2", "avx512", "avx512vbmi"};

/// The best of them that this processor supports.
inline Isa isa_of_processor() {
#ifdef CUDASCAN_X86_64
  __builtin_cpu_init();  // the library is being loaded
  if (__builtin_cpu_supports("x86-64-v4"))
    return __builtin_cpu_supports("avx512vbmi") ? Isa::avx512vbmi : Isa::avx512;
  if (__builtin_cpu_supports("x86-64-v3")) return Isa::avx2;
#endif
  return Isa::baseline;
}

/// The instruction set whose loops run: the best of the processor, or a lower one that the
/// environment variable CUDASCAN_MAX_CPU_ISA names. Chosen when the library is loaded.
[[gnu::visibility("hidden")]] extern const Isa kIsa;

/// Throws BadSetting if the value of the variable was not the name of an instruction set.
void check_isa();

}  // namespace cudascan

/// The object of this name in the namespace for kIsa.
#ifdef CUDASCAN_X86_64
#define CUDASCAN_FASTEST(name)                                \
  (::cudascan::kIsa >= ::cudascan::Isa::avx512 ? avx512::name \
   : ::cudascan::kIsa == ::cudascan::Isa::avx2 ? avx2::name   \
                                               : baseline::name)
#else
#define CUDASCAN_FASTEST(name) (baseline::name)
#endif
