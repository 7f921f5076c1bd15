// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/rank_rows.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "kernels/simd.h"

#ifdef CUDASCAN_X86_64
#include <immintrin.h>
#endif

#define CUDASCAN_ISA baseline
#define CUDASCAN_VECTOR 16
#include "kernels/swofilter/rank_bins.inc"
#include "kernels/swofilter/rank_columns.inc"
#include "kernels/swofilter/rank_columns_16.inc"
#include "kernels/swofilter/rank_network.inc"
#include "kernels/swofilter/rank_sliding.inc"
#undef CUDASCAN_ISA
#undef CUDASCAN_VECTOR

#ifdef CUDASCAN_X86_64
CUDASCAN_BEGIN_AVX2
#define CUDASCAN_ISA avx2
#define CUDASCAN_VECTOR 32
#include "kernels/swofilter/rank_bins.inc"
#include "kernels/swofilter/rank_columns.inc"
#include "kernels/swofilter/rank_columns_16.inc"
#include "kernels/swofilter/rank_network.inc"
#include "kernels/swofilter/rank_sliding.inc"
#undef CUDASCAN_ISA
#undef CUDASCAN_VECTOR
CUDASCAN_END_ISA

CUDASCAN_BEGIN_AVX512
#define CUDASCAN_ISA avx512
#define CUDASCAN_VECTOR 64
#include "kernels/swofilter/rank_bins.inc"
#include "kernels/swofilter/rank_columns.inc"
#include "kernels/swofilter/rank_columns_16.inc"
#include "kernels/swofilter/rank_network.inc"
#include "kernels/swofilter/rank_sliding.inc"
#undef CUDASCAN_ISA
#undef CUDASCAN_VECTOR
CUDASCAN_END_ISA
#endif

namespace cudascan::swo {

template <typename T>
const RankLoops<T> &rank_loops() {
#ifdef CUDASCAN_X86_64
  if (__builtin_cpu_supports("x86-64-v4")) return avx512::kLoops<T>;
  if (__builtin_cpu_supports("x86-64-v3")) return avx2::kLoops<T>;
#endif
  return baseline::kLoops<T>;
}
template const RankLoops<std::uint8_t> &rank_loops();
template const RankLoops<std::uint16_t> &rank_loops();

template <typename T>
void ask_columns_of(const Area<T> &area, const Job &job) {
#ifdef CUDASCAN_X86_64
  if (__builtin_cpu_supports("x86-64-v4")) return avx512::ask_columns(area, job);
  if (__builtin_cpu_supports("x86-64-v3")) return avx2::ask_columns(area, job);
#endif
  baseline::ask_columns(area, job);
}

void ask_columns(const Area<std::uint8_t> &area, const Job &job) {
  ask_columns_of(area, job);
}
void ask_columns(const Area<std::uint16_t> &area, const Job &job) {
  ask_columns_of(area, job);
}

}  // namespace cudascan::swo
