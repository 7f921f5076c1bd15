// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/linearopen_rows.h"

#include <bit>
#include <cstring>
#include <type_traits>

#include "kernels/linearopen_samples.h"
#include "kernels/simd.h"

#ifdef CUDASCAN_X86_64
#include <immintrin.h>
#endif

#define CUDASCAN_ISA baseline
#define CUDASCAN_VECTOR 16
#include "kernels/linearopen_rows.inc"
#include "kernels/linearopen_strips.inc"
#undef CUDASCAN_ISA
#undef CUDASCAN_VECTOR

#ifdef CUDASCAN_X86_64
CUDASCAN_BEGIN_AVX2
#define CUDASCAN_ISA avx2
#define CUDASCAN_VECTOR 32
#include "kernels/linearopen_rows.inc"
#include "kernels/linearopen_strips.inc"
#undef CUDASCAN_ISA
#undef CUDASCAN_VECTOR
CUDASCAN_END_ISA

CUDASCAN_BEGIN_AVX512
#define CUDASCAN_ISA avx512
#define CUDASCAN_VECTOR 64
#include "kernels/linearopen_rows.inc"
#include "kernels/linearopen_strips.inc"
#undef CUDASCAN_ISA
#undef CUDASCAN_VECTOR
CUDASCAN_END_ISA
#endif

namespace cudascan::linearopen {

template <typename T>
const Rows<T> &rows() {
#ifdef CUDASCAN_X86_64
  if (__builtin_cpu_supports("x86-64-v4")) return avx512::kRows<T>;
  if (__builtin_cpu_supports("x86-64-v3")) return avx2::kRows<T>;
#endif
  return baseline::kRows<T>;
}

template const Rows<std::uint8_t> &rows();
template const Rows<std::uint16_t> &rows();
template const Rows<std::uint32_t> &rows();

}  // namespace cudascan::linearopen
