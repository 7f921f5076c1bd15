// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Codes a row of a page. The code depends on the row and the pixels above it only, so all rows can
/// be coded at the same time.
#pragma once
#include "common/api.h"
#include "kernels/group4/codes.h"

namespace cudascan::group4 {

/// Bits of pixels, 1 = black, from the lowest bit of a word on.
template <typename Word>
struct PackedRow {
  static constexpr int kBits = 8 * sizeof(Word);

  const Word *words;  ///< nullptr: all are white
  int width;

  /// The first pixel from x on that is black (or white), or the width.
  CUDASCAN_HD int find(int x, bool black) const {
    if (x >= width) return width;
    if (!words) return black ? width : x;
    const Word flip = black ? Word{0} : ~Word{0};
    int i = x / kBits;
    Word found = (words[i] ^ flip) & ~Word{0} << x % kBits;
    while (!found) {
      if (++i * kBits >= width) return width;
      found = words[i] ^ flip;
    }
    const int at = i * kBits + first_one(found);
    return at < width ? at : width;
  }

 private:
  CUDASCAN_HD static int first_one(Word word) {
#ifdef __CUDA_ARCH__
    return __ffs(static_cast<int>(word)) - 1;
#else
    return sizeof(Word) == 8 ? __builtin_ctzll(word) : __builtin_ctz(static_cast<unsigned>(word));
#endif
  }
};

template <typename Put>
CUDASCAN_HD void put_run(int length, const Code *codes, const Put &put) {
  for (; length >= kLongest + 64; length -= kLongest) put(codes[kRunCodes - 1]);
  if (length >= 64) put(codes[63 + length / 64]);
  put(codes[length % 64]);
}

/// The coding procedure of T.6, 2.2.5: a0, a1 and a2 are changes of the row, b1 and b2 of the one
/// above.
/// @param put  takes one Code after the other
template <typename Word, typename Put>
CUDASCAN_HD void encode_row(const PackedRow<Word> &row, const PackedRow<Word> &above,
                            const Codes &codes, const Put &put) {
  constexpr int kMost = 3;  // pixels to either side in vertical mode
  bool black = false;       // the colour at a0
  int a0 = 0, a1 = row.find(0, true), b1 = above.find(0, true);
  while (true) {
    const int b2 = above.find(b1, black), shift = a1 - b1;
    if (b2 < a1) {
      put(kPass);
      a0 = b2;
    } else if (shift >= -kMost && shift <= kMost) {
      put(codes.vertical[kMost + shift]);
      a0 = a1;
      black = !black;
    } else {
      const int a2 = row.find(a1, black);
      put(kHorizontal);
      put_run(a1 - a0, codes.run[black], put);
      put_run(a2 - a1, codes.run[!black], put);
      a0 = a2;
    }
    if (a0 >= row.width) return;
    a1 = row.find(a0, !black);
    b1 = above.find(above.find(a0, black), !black);
  }
}

}  // namespace cudascan::group4
