// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cell_bits.h"

#include <cstring>
#include <functional>

#include "cell_rows.h"
#include "clones.h"
#include "pieces.h"

namespace cudascan::scan {
namespace {

using Word = CellBits::Word;
constexpr int kWord = CellBits::kWord;
static_assert(std::endian::native == std::endian::little);

/// Puts 8 cells that are 0 or 1 into a byte. @param count  bytes
CUDASCAN_CLONES void pack(const std::uint8_t *cells, std::size_t count, std::uint8_t *to) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t bits;
    std::memcpy(&bits, cells + 8 * i, sizeof bits);
    bits |= bits >> 7;
    bits |= bits >> 14;
    bits |= bits >> 28;
    to[i] = static_cast<std::uint8_t>(bits);
  }
}

/// Keeps the bits that are set both here and some bits further.
/// @param bits  0..63, in addition to the words
CUDASCAN_CLONES void and_ahead(const Word *from, std::ptrdiff_t words, int bits, std::size_t count,
                               Word *__restrict to) {
  const Word *const ahead = from + words;
  for (std::size_t i = 0; i < count; ++i)
    to[i] = from[i] & (ahead[i] >> bits | ahead[i + 1] << 1 << (kWord - 1 - bits));
}

/// Adds bits where those some bits before are set.
CUDASCAN_CLONES void or_behind(const Word *from, std::ptrdiff_t words, int bits, std::size_t count,
                               Word *__restrict to) {
  const Word *const behind = from - words;
  for (std::size_t i = 0; i < count; ++i)
    to[i] = from[i] | (behind[i] << bits | (behind - 1)[i] >> 1 >> (kWord - 1 - bits));
}

/// Adds the bits to the left and to the right.
CUDASCAN_CLONES void spread_sideways(const Word *from, std::size_t count, Word *__restrict to) {
  const Word *const before = from - 1;
  for (std::size_t i = 0; i < count; ++i)
    to[i] = from[i] | from[i] << 1 | from[i] >> 1 | before[i] >> (kWord - 1) |
            from[i + 1] << (kWord - 1);
}

/// Adds the bits of the rows above and below.
CUDASCAN_CLONES void add_rows(const Word *from, std::ptrdiff_t words, std::size_t count,
                              Word *__restrict to) {
  const Word *const above = from - words, *const below = from + words;
  for (std::size_t i = 0; i < count; ++i) to[i] |= from[i] | above[i] | below[i];
}

/// Calls use(step) for steps that reach from 1 to `length`: each at most doubles what is reached.
template <typename Use>
void for_steps(int length, Use use) {
  for (int reached = 1; reached < length;) {
    const int step = std::min(reached, length - reached);
    use(step);
    reached += step;
  }
}

}  // namespace

void CellBits::shape(int width, int height, bool outside) {
  width_ = width;
  height_ = height;
  words_ = words_for(width);
  bits_.assign(std::size_t{1} * words_ * (height + 2 * kAround), 0);
  if (!outside) return;
  std::fill(row(-1), row(height + 1), ~Word{0});
  std::fill(row(0), row(1), Word{0});
  set(0, 0, width);
  std::transform(row(0), row(1), row(0), [](Word word) { return ~word; });
  for (int y = 1; y < height; ++y) std::copy(row(0), row(1), row(y));
}

void CellBits::set(int y, int begin, int end) {
  for (int at = begin + 1; at < end + 1;) {
    const int shift = at % kWord, bits = std::min(kWord - shift, end + 1 - at);
    row(y)[at / kWord] |= ~Word{0} >> (kWord - bits) << shift;
    at += bits;
  }
}

void CellBits::clear_outside() {
  const int last = (width_ + 1) % kWord;  // the bit of the frame
  for (int y = 0; y < height_; ++y) {
    row(y)[0] &= ~Word{1};
    row(y)[words_ - 1] &= (Word{1} << last) - 1;
  }
}

std::ptrdiff_t CellBits::count() const {
  std::ptrdiff_t sum = 0;
  for (int y = 0; y < height_; ++y)
    for_runs(row(y), words_, [&](int begin, int end) { sum += end - begin; });
  return sum;
}

bool CellBits::any(int y, int begin, int end) const {
  for (int at = begin + 1; at < end + 1;) {
    const int shift = at % kWord, bits = std::min(kWord - shift, end + 1 - at);
    if (row(y)[at / kWord] >> shift << (kWord - bits)) return true;
    at += bits;
  }
  return false;
}

void CellBits::remove(const CellBits &other, int top, int bottom) {
  std::transform(row(top), row(bottom), other.row(top), row(top),
                 [](Word word, Word without) { return word & ~without; });
}

void CellBits::add(const CellBits &other) {
  std::transform(begin(), begin() + size(), other.begin(), begin(), std::bit_or<Word>());
}

void CellBits::keep(const CellBits &other) {
  std::transform(begin(), begin() + size(), other.begin(), begin(), std::bit_and<Word>());
}

void CellBits::add_below(const std::uint8_t *levels, std::uint8_t level) {
  constexpr int kTogether = 32;  // words, so that the cells between stay in the cache
  alignas(64) std::uint8_t cells[kTogether * kWord];
  Word bits[kTogether];
  for (std::size_t at = 0; at < size(); at += kTogether) {
    const std::size_t count = std::min<std::size_t>(kTogether, size() - at);
    find_below(levels + at * kWord, level, count * kWord, cells);
    pack(cells, 8 * count, reinterpret_cast<std::uint8_t *>(bits));
    for (std::size_t i = 0; i < count; ++i) begin()[at + i] |= bits[i];
  }
  clear_outside();
}

void CellBits::keep_squares(int side, CellBits &space) {
  const std::ptrdiff_t words = words_;
  // First the corners of squares are left, then they grow to squares again.
  for_steps(side, [&](int step) {
    and_ahead(begin(), 0, step, size(), space.begin());
    bits_.swap(space.bits_);
  });
  for_steps(side, [&](int step) {
    and_ahead(begin(), step * words, 0, size(), space.begin());
    bits_.swap(space.bits_);
  });
  for_steps(side, [&](int step) {
    or_behind(begin(), step * words, 0, size(), space.begin());
    bits_.swap(space.bits_);
  });
  for_steps(side, [&](int step) {
    or_behind(begin(), 0, step, size(), space.begin());
    bits_.swap(space.bits_);
  });
}

void CellBits::set_neighbours(const CellBits &of, int top, int bottom) {
  const std::size_t count = std::size_t{1} * (bottom - top) * words_;
  spread_sideways(of.row(top), count, row(top));
  add_rows(of.row(top), words_, count, row(top));
}

void CellBits::grow(CellBits &space) {
  spread_sideways(begin(), size(), space.begin());
  add_rows(space.begin(), words_, size(), begin());
  clear_outside();
}

void CellPieces::find(const CellBits &cells) {
  runs_.clear();
  Pieces pieces;
  std::size_t above = 0;  // the first run of the row above that may touch
  for (int y = 0; y < cells.height(); ++y) {
    for_runs(cells.row(y), cells.words(), [&](int begin, int end) {
      const int piece = pieces.add();
      while (above < runs_.size() &&
             (runs_[above].y < y - 1 || (runs_[above].y == y - 1 && runs_[above].end <= begin)))
        ++above;
      for (std::size_t i = above; i < runs_.size() && runs_[i].y < y && runs_[i].begin < end; ++i)
        pieces.join(piece, runs_[i].piece);
      runs_.push_back({begin, end, y, piece});
    });
  }
  numbers_.assign(runs_.size(), -1);
  first_.assign(1, 0);  // counts, then sums of them
  for (CellRun &run : runs_) {
    int &number = numbers_[pieces.root(run.piece)];
    if (number < 0) {
      number = count();
      first_.push_back(0);
    }
    run.piece = number;
    ++first_[number + 1];
  }
  for (int piece = 0; piece < count(); ++piece) first_[piece + 1] += first_[piece];
  sorted_.resize(runs_.size());
  numbers_.assign(first_.begin(), first_.end());
  for (const CellRun &run : runs_) sorted_[numbers_[run.piece]++] = run;
}

}  // namespace cudascan::scan
