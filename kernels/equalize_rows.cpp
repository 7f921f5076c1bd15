// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/equalize_rows.h"

#include "kernels/simd.h"

#define CUDASCAN_ISA baseline
#include "kernels/equalize_rows.inc"
#undef CUDASCAN_ISA

#ifdef CUDASCAN_X86_64
CUDASCAN_BEGIN_AVX2
#define CUDASCAN_ISA avx2
#include "kernels/equalize_rows.inc"
#undef CUDASCAN_ISA
CUDASCAN_END_ISA

CUDASCAN_BEGIN_AVX512
#define CUDASCAN_ISA avx512
#include "kernels/equalize_rows.inc"
#undef CUDASCAN_ISA
CUDASCAN_END_ISA
#endif

namespace cudascan::equalize {

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

}  // namespace cudascan::equalize
