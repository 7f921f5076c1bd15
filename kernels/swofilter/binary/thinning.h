// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Decides for all pixels of a word at once which ones a thinning step removes, and counts passes.
/// A bit is a pixel, 1 = white; words may have any unsigned type.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/swofilter/window.h"

namespace cudascan::swo::thinning {

/// The neighbours of the pixels of a word. They are named as in binary.h.
template <typename Word>
struct Neighbours {
  Word p2, p3, p4, p5, p6, p7, p8, p9;
};

/// A pixel's column and its neighbours in words: bit i of `middle` is a pixel, bit i of `left` the
/// pixel to its left.
template <typename Word>
struct BitRow {
  Word left, middle, right;

  /// @param before, after  the adjacent words of the row. The lowest bit is the leftmost pixel.
  static CUDASCAN_HD inline BitRow of(Word before, Word word, Word after) {
    constexpr int kLast = 8 * sizeof(Word) - 1;
    return {word << 1 | before >> kLast, word, word >> 1 | after << kLast};
  }
};

template <typename Word>
CUDASCAN_HD inline Neighbours<Word> neighbours(const BitRow<Word> &above, const BitRow<Word> &row,
                                               const BitRow<Word> &below) {
  return {above.middle, above.right, row.right, below.right,
          below.middle, below.left,  row.left,  above.left};
}

template <typename Word>
CUDASCAN_HD inline Word two_of(Word a, Word b, Word c) {
  return (a & b) | (c & (a | b));
}
template <typename Word>
CUDASCAN_HD inline Word exactly_one(Word a, Word b, Word c, Word d) {
  return (a ^ b ^ c ^ d) & ~two_of(a, b, c);
}
template <typename Word>
CUDASCAN_HD inline Word two_of(Word a, Word b, Word c, Word d) {
  return two_of(a, b, c) | (d & (a | b | c));
}

/// Whether there is a change from black to white between two consecutive neighbours; there cannot
/// be two.
template <typename Word>
CUDASCAN_HD inline Word rises(Word a, Word b, Word c) {
  return (~a & b) | (~b & c);
}

/// Pixels to remove if they are white. If A = 1, the white neighbours are one run. The run has at
/// least two pixels if it contains one edge neighbour and one corner. It has at most six if one of
/// each is black; the condition of the step already implies a black edge neighbour.
template <typename Word>
CUDASCAN_HD inline Word zhang_suen(const Neighbours<Word> &p, bool second) {
  const Word one_run = exactly_one(rises(p.p2, p.p3, p.p4), rises(p.p4, p.p5, p.p6),
                                   rises(p.p6, p.p7, p.p8), rises(p.p8, p.p9, p.p2));
  const Word beside = p.p2 | p.p4 | p.p6 | p.p8, corner = p.p3 | p.p5 | p.p7 | p.p9;
  const Word corners = p.p3 & p.p5 & p.p7 & p.p9;
  const Word kept = second ? p.p2 & p.p8 & (p.p4 | p.p6) : p.p4 & p.p6 & (p.p2 | p.p8);
  return one_run & beside & corner & ~corners & ~kept;
}

template <typename Word>
CUDASCAN_HD inline Word guo_hall(const Neighbours<Word> &p, bool second) {
  const Word connected = exactly_one(~p.p2 & (p.p3 | p.p4), ~p.p4 & (p.p5 | p.p6),
                                     ~p.p6 & (p.p7 | p.p8), ~p.p8 & (p.p9 | p.p2));
  const Word a = p.p9 | p.p2, b = p.p3 | p.p4, c = p.p5 | p.p6, d = p.p7 | p.p8;  // N1
  const Word e = p.p2 | p.p3, f = p.p4 | p.p5, g = p.p6 | p.p7, h = p.p8 | p.p9;  // N2
  const Word at_least_two = two_of(a, b, c, d) & two_of(e, f, g, h);
  const Word both_four = (a & b & c & d) & (e & f & g & h);
  const Word kept = second ? (p.p2 | p.p3 | ~p.p5) & p.p4 : (p.p6 | p.p7 | ~p.p9) & p.p8;
  return connected & at_least_two & ~both_four & ~kept;
}

/// A mask of three rows of three cells: bit 3 * row + column is set in `on` for white, in `off` for
/// black.
struct Template {
  std::uint16_t on, off;

  /// @param mask  of one or three rows and columns
  static Template of(const Mask &mask) {
    Template t{};
    for (int row = 0; row < mask.height; ++row)
      for (int column = 0; column < mask.width; ++column) {
        const Mask::Cell cell = mask.at(column, row);
        const int bit = 3 * (row - mask.ry() + 1) + column - mask.rx() + 1;
        t.on |= static_cast<std::uint16_t>((cell == Mask::on) << bit);
        t.off |= static_cast<std::uint16_t>((cell == Mask::off) << bit);
      }
    return t;
  }

  CUDASCAN_HD Template turned() const { return {turned(on), turned(off)}; }

 private:
  /// Rotated by 90 degrees clockwise: the upper left cell moves to the upper right.
  static CUDASCAN_HD std::uint16_t turned(unsigned cells) {
    unsigned result = 0;
    for (int row = 0; row < 3; ++row)
      for (int column = 0; column < 3; ++column)
        result |= (cells >> (3 * row + column) & 1) << (3 * column + 2 - row);
    return static_cast<std::uint16_t>(result);
  }
};

/// A template as words, for comparison with words of pixels.
template <typename Word>
struct WideTemplate {
  Word flip[9];  ///< all ones for black
  Word any[9];   ///< all ones for either

  static CUDASCAN_HD WideTemplate of(const Template &t) {
    WideTemplate wide;
    for (int i = 0; i < 9; ++i) {
      wide.flip[i] = Word{0} - (t.off >> i & 1);
      wide.any[i] = ~(Word{0} - ((t.on | t.off) >> i & 1));
    }
    return wide;
  }
};

/// Pixels that the template fits.
/// @param free_above, free_row, free_below  neighbours that always fit
template <typename Word>
CUDASCAN_HD inline Word fits(const BitRow<Word> &above, const BitRow<Word> &row,
                             const BitRow<Word> &below, const WideTemplate<Word> &t,
                             const BitRow<Word> &free_above = {}, const BitRow<Word> &free_row = {},
                             const BitRow<Word> &free_below = {}) {
  const auto cells = [&](const BitRow<Word> &r, const BitRow<Word> &f, int i) {
    return ((r.left ^ t.flip[i]) | t.any[i] | f.left) &
           ((r.middle ^ t.flip[i + 1]) | t.any[i + 1] | f.middle) &
           ((r.right ^ t.flip[i + 2]) | t.any[i + 2] | f.right);
  };
  return cells(above, free_above, 0) & cells(row, free_row, 3) & cells(below, free_below, 6);
}

/// The templates of a pass, in order.
inline std::vector<Template> make_templates(const std::vector<Mask> &masks) {
  std::vector<Template> templates;
  for (const Mask &mask : masks) templates.push_back(Template::of(mask));
  if (masks.empty()) templates = {{0b111'010'000, 0b000'000'111}, {0b010'011'000, 0b000'100'110}};
  const std::size_t n = templates.size();
  for (std::size_t i = 0; i < 3 * n; ++i) templates.push_back(templates[i].turned());
  return templates;
}

/// The sequence of steps. Steps are counted from 0 over all passes.
struct Schedule {
  SwoFilterThinning method;
  int period;          ///< steps of a pass
  std::int64_t steps;  ///< largest number of steps, a multiple of the period

  static Schedule of(const FilterJob &job, std::size_t templates) {
    constexpr std::int64_t kMost = std::int64_t{1} << 62;
    const int period =
        job.thinning == SwoFilterThinning::templates ? static_cast<int>(templates) : 2;
    return {job.thinning, period,
            job.iterations > 0 ? job.iterations * std::int64_t{period} : kMost};
  }

  /// Whether nothing can change: the last `period` steps before `next` have changed nothing.
  /// @param last  the last step that has changed something, -1 if none has
  CUDASCAN_HD bool stable(std::int64_t last, std::int64_t next) const {
    return next - last > period;
  }
  /// The number of passes for the report. Additional steps that were done change nothing.
  CUDASCAN_HD std::int64_t passes(std::int64_t last) const {
    const std::int64_t until_stable = last < 0 ? 1 : last / period + 2;
    return until_stable < steps / period ? until_stable : steps / period;
  }
};

}  // namespace cudascan::swo::thinning
