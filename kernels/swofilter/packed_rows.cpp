// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/packed_rows.h"

#include <cstring>

#include "kernels/simd.h"

#define CUDASCAN_ISA baseline
#include "kernels/swofilter/packed_rows.inc"
#undef CUDASCAN_ISA

#ifdef CUDASCAN_X86_64
CUDASCAN_BEGIN_AVX2
#define CUDASCAN_ISA avx2
#include "kernels/swofilter/packed_rows.inc"
#undef CUDASCAN_ISA
CUDASCAN_END_ISA

CUDASCAN_BEGIN_AVX512
#define CUDASCAN_ISA avx512
#include "kernels/swofilter/packed_rows.inc"
#undef CUDASCAN_ISA
CUDASCAN_END_ISA
#endif

namespace cudascan::swo::packed {

template <typename T>
const PixelLoops<T> &pixel_loops() {
#ifdef CUDASCAN_X86_64
  if (__builtin_cpu_supports("x86-64-v4")) return avx512::kPixelLoops<T>;
  if (__builtin_cpu_supports("x86-64-v3")) return avx2::kPixelLoops<T>;
#endif
  return baseline::kPixelLoops<T>;
}
template const PixelLoops<std::uint8_t> &pixel_loops();
template const PixelLoops<std::uint16_t> &pixel_loops();

const WordLoops &word_loops() {
#ifdef CUDASCAN_X86_64
  if (__builtin_cpu_supports("x86-64-v4")) return avx512::kWordLoops;
  if (__builtin_cpu_supports("x86-64-v3")) return avx2::kWordLoops;
#endif
  return baseline::kWordLoops;
}

}  // namespace cudascan::swo::packed
