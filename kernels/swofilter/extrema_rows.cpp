// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/extrema_rows.h"

#include "kernels/simd.h"

#ifdef CUDASCAN_X86_64
#include <immintrin.h>
#endif

#define CUDASCAN_ISA baseline
#define CUDASCAN_VECTOR 16
#include "kernels/swofilter/extrema_rows.inc"
#undef CUDASCAN_ISA
#undef CUDASCAN_VECTOR

#ifdef CUDASCAN_X86_64
CUDASCAN_BEGIN_AVX2
#define CUDASCAN_ISA avx2
#define CUDASCAN_VECTOR 32
#include "kernels/swofilter/extrema_rows.inc"
#undef CUDASCAN_ISA
#undef CUDASCAN_VECTOR
CUDASCAN_END_ISA

CUDASCAN_BEGIN_AVX512
#define CUDASCAN_ISA avx512
#define CUDASCAN_VECTOR 64
#include "kernels/swofilter/extrema_rows.inc"
#undef CUDASCAN_ISA
#undef CUDASCAN_VECTOR
CUDASCAN_END_ISA
#endif

namespace cudascan::swo::extremes {

template <typename T>
const Loops<T> &loops() {
#ifdef CUDASCAN_X86_64
  if (__builtin_cpu_supports("x86-64-v4")) return avx512::kLoops<T>;
  if (__builtin_cpu_supports("x86-64-v3")) return avx2::kLoops<T>;
#endif
  return baseline::kLoops<T>;
}

template const Loops<std::uint8_t> &loops();
template const Loops<std::uint16_t> &loops();

}  // namespace cudascan::swo::extremes
