// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Rows of pixels packed to bits, on the CPU: the inner loops of binary operators, compiled for
/// several instruction sets. The lowest bit of a word is the leftmost pixel.
#pragma once
#include <cstddef>
#include <cstdint>

#include "kernels/swofilter/binary/thinning.h"

namespace cudascan::swo::packed {

using Word = std::uint64_t;
inline constexpr int kBits = 64;

inline int words_of(int pixels) {
  return (pixels + kBits - 1) / kBits;
}

/// The condition of a thinning step.
struct ThinningStep {
  SwoFilterThinning method;
  bool second;                             ///< of the two steps of a pass
  thinning::WideTemplate<Word> pattern{};  ///< of method templates
};
/// Rows thinned at a time.
inline constexpr int kThinnedRows = 4;

template <typename T>
struct PixelLoops {
  /// Packs samples that have any of the bits `levels`; bits after the last pixel become 0.
  void (*pack)(const T *in, int n, T levels, Word *out);
  void (*unpack)(const Word *in, int n, T white, T *out);
};
template <typename T>
const PixelLoops<T> &pixel_loops();

struct WordLoops {
  /// Thins n words in each of kThinnedRows rows. Also reads the words around them.
  /// @param pitch  words from a row to the next, of both
  /// @return whether a pixel was removed
  bool (*thin)(const Word *in, Word *out, std::ptrdiff_t pitch, int n, const ThinningStep &);
  /// out[i] = a[i] & b from bit `shift` on, which may be negative. `out` may be `a`, not `b`.
  void (*and_shifted)(const Word *a, const Word *b, int shift, int n, Word *out);
  void (*complement)(const Word *in, int n, Word *out);
  void (*unite)(const Word *in, int n, Word *out);
};
const WordLoops &word_loops();

}  // namespace cudascan::swo::packed
