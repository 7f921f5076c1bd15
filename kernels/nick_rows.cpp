// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/nick_rows.h"

#include <bit>
#include <cmath>
#include <type_traits>

#include "kernels/simd.h"

#define CUDASCAN_ISA baseline
#define CUDASCAN_LANES 4
#include "kernels/nick_rows.inc"
#undef CUDASCAN_ISA
#undef CUDASCAN_LANES

#ifdef CUDASCAN_X86_64
CUDASCAN_BEGIN_AVX2
#define CUDASCAN_ISA avx2
#define CUDASCAN_LANES 8
#include "kernels/nick_rows.inc"
#undef CUDASCAN_ISA
#undef CUDASCAN_LANES
CUDASCAN_END_ISA

CUDASCAN_BEGIN_AVX512
#define CUDASCAN_ISA avx512
#define CUDASCAN_LANES 16
#include "kernels/nick_rows.inc"
#undef CUDASCAN_ISA
#undef CUDASCAN_LANES
CUDASCAN_END_ISA
#endif

namespace cudascan::nick {

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

}  // namespace cudascan::nick
