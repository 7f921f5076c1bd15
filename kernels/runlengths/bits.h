// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Planes of bits on the CPU, and their runs. The lowest bit of a word is the leftmost pixel.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>

#include "kernels/runlengths.h"

namespace cudascan::runlengths {

using Word = std::uint64_t;
inline constexpr int kWordBits = 64;

constexpr int words_of(int pixels) {
  return (pixels + kWordBits - 1) / kWordBits;
}
/// The bits of the pixels before x in their word.
constexpr Word bits_before(int x) {
  return (Word{1} << (x % kWordBits)) - 1;
}

/// Bits after the last pixel of a row are 0.
struct BitPlane {
  Word *data;
  int width, height;

  int words() const { return words_of(width); }
  Word *row(int y) const { return data + std::ptrdiff_t{words()} * y; }
};

/// Calls visit(begin, end) for the runs of bits in a row.
template <typename Visit>
[[gnu::always_inline]] inline void for_each_run(const Word *row, int width, const Visit &visit) {
  const int words = words_of(width);
  int begin = -1;
  Word last = 0;  // the bit before the word
  for (int i = 0; i < words; ++i) {
    const Word word = row[i];
    Word turns = word ^ (word << 1 | last);
    for (; turns; turns &= turns - 1) {
      const int x = kWordBits * i + std::countr_zero(turns);
      if (begin < 0) {
        begin = x;
      } else {
        visit(begin, x);
        begin = -1;
      }
    }
    last = word >> (kWordBits - 1);
  }
  if (begin >= 0) visit(begin, width);
}

/// Adds the runs of bits inside a part of the plane to counts.
/// @param part    inside the plane and not empty
/// @param sparse  see RunLengthParams
void count_runs(Cpu &cpu, const BitPlane &bits, const Rectangle &part, bool sparse,
                RunLengths &counts);

}  // namespace cudascan::runlengths
