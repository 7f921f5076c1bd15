// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/equalize/rows.h"

#include <cstring>

#include "kernels/base/simd.h"

#ifdef CUDASCAN_X86_64
#include <immintrin.h>
#endif

#define CUDASCAN_LOOPS "kernels/equalize/rows.inc"
#include "kernels/base/simd_each.inc"

#ifdef CUDASCAN_X86_64
#pragma GCC push_options
#pragma GCC target("arch=x86-64-v4,avx512vbmi,prefer-vector-width=512")
namespace cudascan::equalize::avx512vbmi {

/// Keeps the table in vector registers. Returns the number of pixels done, a multiple of 64.
int look_up_bytes(const std::uint8_t *in, int n, const std::uint8_t *table, std::uint8_t *out) {
  const __m512i t0 = _mm512_loadu_si512(table), t1 = _mm512_loadu_si512(table + 64),
                t2 = _mm512_loadu_si512(table + 128), t3 = _mm512_loadu_si512(table + 192);
  int i = 0;
  for (; i + 64 <= n; i += 64) {
    const __m512i samples = _mm512_loadu_si512(in + i);
    const __m512i low = _mm512_permutex2var_epi8(t0, samples, t1);
    const __m512i high = _mm512_permutex2var_epi8(t2, samples, t3);
    _mm512_storeu_si512(out + i, _mm512_mask_mov_epi8(low, _mm512_movepi8_mask(samples), high));
  }
  return i;
}

}  // namespace cudascan::equalize::avx512vbmi
#define CUDASCAN_ISA avx512vbmi
#define CUDASCAN_LOOK_UP_BYTES look_up_bytes
#include "kernels/equalize/rows.inc"
#undef CUDASCAN_ISA
#undef CUDASCAN_LOOK_UP_BYTES
CUDASCAN_END_ISA
#endif

namespace cudascan::equalize {

template <typename T>
const EqualizeRows<T> &rows() {
#ifdef CUDASCAN_X86_64
  if (kIsa == Isa::avx512vbmi) return avx512vbmi::kRows<T>;
#endif
  return CUDASCAN_FASTEST(kRows<T>);
}

template const EqualizeRows<std::uint8_t> &rows();
template const EqualizeRows<std::uint16_t> &rows();

}  // namespace cudascan::equalize
