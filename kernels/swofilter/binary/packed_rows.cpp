// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/binary/packed_rows.h"

#include <cstring>

#include "kernels/base/simd.h"

#ifdef CUDASCAN_X86_64
#include <immintrin.h>
#endif

#define CUDASCAN_ISA baseline
#include "kernels/swofilter/binary/packed_rows.inc"
#undef CUDASCAN_ISA

#ifdef CUDASCAN_X86_64
#define CUDASCAN_PIXEL_VECTORS
CUDASCAN_BEGIN_AVX2
namespace cudascan::swo::packed::avx2 {

/// 32 pixels, a byte each: all bits of black ones.
inline __m256i black_bytes(const std::uint8_t *in, std::uint8_t levels) {
  const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(in));
  return _mm256_cmpeq_epi8(_mm256_and_si256(v, _mm256_set1_epi8(static_cast<char>(levels))),
                           _mm256_setzero_si256());
}
inline __m256i black_bytes(const std::uint16_t *in, std::uint16_t levels) {
  const __m256i mask = _mm256_set1_epi16(static_cast<short>(levels));
  const auto black = [&](const std::uint16_t *samples) {
    const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(samples));
    return _mm256_cmpeq_epi16(_mm256_and_si256(v, mask), _mm256_setzero_si256());
  };
  return _mm256_permute4x64_epi64(_mm256_packs_epi16(black(in), black(in + 16)), 0xd8);
}
template <typename T>
inline Word pack_word(const T *in, T levels) {
  const auto half = [&](const T *samples) {
    return static_cast<std::uint32_t>(~_mm256_movemask_epi8(black_bytes(samples, levels)));
  };
  return half(in) | Word{half(in + 32)} << 32;
}
inline void unpack_word(Word word, std::uint8_t white, std::uint8_t *out) {
  const __m256i bytes =
      _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
  const __m256i bit = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201));
  for (int i = 0; i < 2; ++i) {
    const __m256i all = _mm256_shuffle_epi8(
        _mm256_set1_epi32(static_cast<int>(static_cast<std::uint32_t>(word >> (32 * i)))), bytes);
    const __m256i is_white = _mm256_cmpeq_epi8(_mm256_and_si256(all, bit), bit);
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(out + 32 * i),
                        _mm256_and_si256(is_white, _mm256_set1_epi8(static_cast<char>(white))));
  }
}
inline void unpack_word(Word word, std::uint16_t white, std::uint16_t *out) {
  const __m256i bit = _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096,
                                        8192, 16384, static_cast<short>(32768));
  for (int i = 0; i < 4; ++i) {
    const __m256i all = _mm256_set1_epi16(static_cast<short>(word >> (16 * i)));
    const __m256i is_white = _mm256_cmpeq_epi16(_mm256_and_si256(all, bit), bit);
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(out + 16 * i),
                        _mm256_and_si256(is_white, _mm256_set1_epi16(static_cast<short>(white))));
  }
}

}  // namespace cudascan::swo::packed::avx2
#define CUDASCAN_ISA avx2
#include "kernels/swofilter/binary/packed_rows.inc"
#undef CUDASCAN_ISA
CUDASCAN_END_ISA

CUDASCAN_BEGIN_AVX512
namespace cudascan::swo::packed::avx512 {

inline Word pack_word(const std::uint8_t *in, std::uint8_t levels) {
  return _mm512_test_epi8_mask(_mm512_loadu_si512(in), _mm512_set1_epi8(static_cast<char>(levels)));
}
inline Word pack_word(const std::uint16_t *in, std::uint16_t levels) {
  const __m512i mask = _mm512_set1_epi16(static_cast<short>(levels));
  return _mm512_test_epi16_mask(_mm512_loadu_si512(in), mask) |
         Word{_mm512_test_epi16_mask(_mm512_loadu_si512(in + 32), mask)} << 32;
}
inline void unpack_word(Word word, std::uint8_t white, std::uint8_t *out) {
  _mm512_storeu_si512(out, _mm512_maskz_set1_epi8(word, static_cast<char>(white)));
}
inline void unpack_word(Word word, std::uint16_t white, std::uint16_t *out) {
  for (int i = 0; i < 2; ++i)
    _mm512_storeu_si512(out + 32 * i,
                        _mm512_maskz_set1_epi16(static_cast<__mmask32>(word >> (32 * i)),
                                                static_cast<short>(white)));
}

}  // namespace cudascan::swo::packed::avx512
#define CUDASCAN_ISA avx512
#include "kernels/swofilter/binary/packed_rows.inc"
#undef CUDASCAN_ISA
CUDASCAN_END_ISA
#endif

namespace cudascan::swo::packed {

template <typename T>
const PixelLoops<T> &pixel_loops() {
  return CUDASCAN_FASTEST(kPixelLoops<T>);
}
template const PixelLoops<std::uint8_t> &pixel_loops();
template const PixelLoops<std::uint16_t> &pixel_loops();

const WordLoops &word_loops() {
  return CUDASCAN_FASTEST(kWordLoops);
}

}  // namespace cudascan::swo::packed
