// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/geodesic_rows.h"

#include "kernels/simd.h"

#define CUDASCAN_ISA baseline
#include "kernels/swofilter/geodesic_rows.inc"
#undef CUDASCAN_ISA

#ifdef CUDASCAN_X86_64
CUDASCAN_BEGIN_AVX2
#define CUDASCAN_ISA avx2
#include "kernels/swofilter/geodesic_rows.inc"
#undef CUDASCAN_ISA
CUDASCAN_END_ISA

CUDASCAN_BEGIN_AVX512
#define CUDASCAN_ISA avx512
#include "kernels/swofilter/geodesic_rows.inc"
#undef CUDASCAN_ISA
CUDASCAN_END_ISA
#endif

namespace cudascan::swo {

template <typename T>
const GeodesicRows<T> &geodesic_rows() {
#ifdef CUDASCAN_X86_64
  if (__builtin_cpu_supports("x86-64-v4")) return avx512::kGeodesicRows<T>;
  if (__builtin_cpu_supports("x86-64-v3")) return avx2::kGeodesicRows<T>;
#endif
  return baseline::kGeodesicRows<T>;
}

template const GeodesicRows<std::uint8_t> &geodesic_rows();
template const GeodesicRows<std::uint16_t> &geodesic_rows();

}  // namespace cudascan::swo
