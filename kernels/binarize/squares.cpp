// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/binarize/squares.h"

#include <algorithm>
#include <vector>

namespace cudascan::binarize {

using namespace runlengths;

namespace {

constexpr int kMinRows = 64;  // fewer rows do not justify a thread

/// Calls step(distance) for distances that make segments of this length from single samples: each
/// sample takes in the one so far before it.
template <typename Step>
void double_up_to(int length, const Step &step) {
  for (int covered = 1; covered < length;) {
    const int distance = std::min(covered, length - covered);
    step(distance);
    covered += distance;
  }
}

/// Unites the bits of windows along a row, which has a word of zeros after it.
void unite_along(std::vector<Word> &row, int radius) {
  double_up_to(2 * radius + 1, [&](int distance) {
    for (std::size_t i = row.size() - 1; i > 0; --i)
      row[i] |= row[i] << distance | row[i - 1] >> (kWordBits - distance);
    row[0] |= row[0] << distance;
  });
  for (std::size_t i = 0; i + 1 < row.size(); ++i)
    row[i] = row[i] >> radius | row[i + 1] << (kWordBits - radius);
}

}  // namespace

// Minima are maxima of the inverted bits.
void square_extrema(Cpu &cpu, bool largest, int size, const BitPlane &in, const BitPlane &out) {
  const int radius = size / 2, words = in.words(), height = in.height;
  const Word flip = largest ? 0 : ~Word{0};
  const Word last = in.width % kWordBits ? bits_before(in.width) : ~Word{0};
  cpu.for_bands(height, kMinRows, [&](int begin, int end) {
    // The rows of the band and those around it; outside the image they are 0.
    const int first = begin - radius;
    std::vector<Word> rows(static_cast<std::size_t>(end + radius - first) * words);
    std::vector<Word> row(words + 1);
    for (int y = std::max(first, 0); y < std::min(end + radius, height); ++y) {
      for (int i = 0; i < words; ++i) row[i] = in.row(y)[i] ^ flip;
      row[words - 1] &= last;
      row[words] = 0;
      unite_along(row, radius);
      std::copy_n(row.begin(), words, rows.begin() + std::ptrdiff_t{y - first} * words);
    }
    double_up_to(2 * radius + 1, [&](int distance) {
      const std::size_t before = static_cast<std::size_t>(distance) * words;
      for (std::size_t i = rows.size(); i-- > before;) rows[i] |= rows[i - before];
    });
    const Word *from = rows.data() + std::ptrdiff_t{2 * radius} * words;
    for (int y = begin; y < end; ++y, from += words) {
      for (int i = 0; i < words; ++i) out.row(y)[i] = from[i] ^ flip;
      out.row(y)[words - 1] &= last;
    }
  });
}

}  // namespace cudascan::binarize
