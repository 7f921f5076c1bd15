// SPDX-License-Identifier: LGPL-2.1-or-later
#include "unfilter.h"

#include <algorithm>
#include <cstring>

#include "clones.h"

namespace cudascan::scan {
namespace {

// A step has one byte of each row. Row k has byte x in step x + kLag * k: then the step kLag before
// has that byte of the row above. These are kLag steps and not one because a processor can load
// across bytes that it has just stored only after some time. The row above the first one is the
// byte before it.
constexpr int kLanes = Unfilter::kRows, kLag = 8, kWords = kLanes / kLag;
constexpr int kStep = 2 * kLanes, kFirst = kLanes;  ///< bytes of a step; where row 0 is in it
constexpr int kBefore = 2 * kLag;                   ///< steps that the next one needs
constexpr int kBlocks = 16;                         ///< of kLag steps, until steps are moved
constexpr int kAhead = 256;                         ///< bytes of a row that are fetched ahead

using Lanes = std::uint8_t __attribute__((vector_size(kLanes)));
using Words = std::uint64_t __attribute__((vector_size(kLanes)));

/// Rows that are undone together. In block i, of kLag steps, row k has the bytes of its word i - k.
struct Rows {
  const std::uint8_t *from;  ///< after the filter type
  std::uint8_t *to;
  std::ptrdiff_t from_stride, to_stride;
  const std::uint8_t *above;
  int bytes, count, pixel_bytes;

  const std::uint8_t *filtered(int row, int block) const {
    return from + row * from_stride + std::ptrdiff_t{kLag} * (block - row);
  }
  std::uint8_t *undone(int row, int block) const {
    return to + row * to_stride + std::ptrdiff_t{kLag} * (block - row);
  }
};

/// The filters of the rows: 255 for the rows that have it.
struct Filters {
  Lanes sub{}, up{}, average{}, paeth{};
};

/// @return false for a filter type that does not exist
bool find_filters(const std::uint8_t *types, std::ptrdiff_t stride, int count, Filters &filters) {
  Lanes *const masks[] = {nullptr, &filters.sub, &filters.up, &filters.average, &filters.paeth};
  for (int row = 0; row < count; ++row) {
    const int type = types[row * stride];
    if (type > 4) return false;
    if (type > 0) (*masks[type])[row] = 255;
  }
  return true;
}

/// Transposes 8 x 8 bytes, four times: byte i of words[r][k] and byte r of words[i][k] change
/// places.
[[gnu::always_inline]] inline void transpose(Words (&words)[kLag]) {
  constexpr std::uint64_t kMasks[] = {0x00ff00ff00ff00ff, 0x0000ffff0000ffff, 0x00000000ffffffff};
#pragma GCC unroll 3
  for (int level = 0; level < 3; ++level) {
    const int apart = 1 << level, bits = 8 * apart;
#pragma GCC unroll 8
    for (int r = 0; r < kLag; ++r) {
      if (r & apart) continue;
      const Words swap = (words[r] >> bits ^ words[r + apart]) & kMasks[level];
      words[r + apart] ^= swap;
      words[r] ^= swap << bits;
    }
  }
}

/// The lanes to the left, and the row above them, of the next step, if a pixel has one byte.
struct Left {
  Lanes here{}, above{};
};

/// Undoes the filters in the next step.
/// @tparam kBytes  1 if a pixel has one byte, else 0
template <int kBytes>
[[gnu::always_inline]] inline void undo_step(std::uint8_t *step, std::ptrdiff_t back,
                                             const Filters &filters, Left &last) {
  const std::uint8_t *const row_above = step + kFirst - 1 - kLag * kStep;
  Lanes here, above, left = last.here, corner = last.above;
  std::memcpy(&here, step + kFirst, kLanes);
  std::memcpy(&above, row_above, kLanes);
  if (kBytes != 1) {
    std::memcpy(&left, step + kFirst - back, kLanes);
    std::memcpy(&corner, row_above - back, kLanes);
  }
  // Paeth's filter takes that of left, above and corner, a, b and c, that is nearest to a + b - c.
  // If b < c, their complements take their places, whose distances are the same. So d = b - c is
  // not negative. The distances of a, b and c are d, |a - c| and |a - c + d|. Therefore a is taken
  // from b on and up to c - 2 d, otherwise b from c - d / 2 on, and c below that.
  const Lanes flip = above < corner;
  const Lanes a = left ^ flip, b = above ^ flip, c = corner ^ flip;
  const Lanes d = b - c, half = d >> 1, after_c = c + (c < 255 ? Lanes{} + 1 : Lanes{});
  const Lanes from_b = c - (c < half ? c : half);
  const Lanes one_d = after_c - (after_c < d ? after_c : d);
  const Lanes from_c = one_d - (one_d < d ? one_d : d);
  const Lanes below = a < from_c ? a : c;
  const Lanes paeth = (a >= from_b ? (a > b ? a : b) : below) ^ flip;
  const Lanes average = (left & above) + ((left ^ above) >> 1);
  here += (left & filters.sub) | (above & filters.up) | (average & filters.average) |
          (paeth & filters.paeth);
  std::memcpy(step + kFirst, &here, kLanes);
  last = {here, above};
}

/// Undoes the filters of the steps of a block.
template <int kBytes>
[[gnu::always_inline]] inline void undo_block(Words (&words)[kLag], std::uint64_t above,
                                              std::ptrdiff_t back, const Filters &filters,
                                              std::uint8_t *step, Left &last) {
  transpose(words);
#pragma GCC unroll 8
  for (int i = 0; i < kLag; ++i) {
    std::memcpy(step + i * kStep + kFirst, &words[i], kLanes);
    step[i * kStep + kFirst - 1] = static_cast<std::uint8_t>(above >> 8 * i);
  }
#pragma GCC unroll 8
  for (int i = 0; i < kLag; ++i) undo_step<kBytes>(step + i * kStep, back, filters, last);
#pragma GCC unroll 8
  for (int i = 0; i < kLag; ++i) std::memcpy(&words[i], step + i * kStep + kFirst, kLanes);
  transpose(words);
}

/// Words of a block in which all rows have one.
[[gnu::always_inline]] inline void take_words(const Rows &rows, int block, Words (&words)[kLag]) {
#pragma GCC unroll 8
  for (int r = 0; r < kLag; ++r) {
    std::uint64_t word[kWords];
#pragma GCC unroll 4
    for (int k = 0; k < kWords; ++k)
      std::memcpy(&word[k], rows.filtered(kLag * k + r, block), kLag);
    words[r] = Words{word[0], word[1], word[2], word[3]};
  }
  // So many rows are more than a processor fetches ahead by itself.
#pragma GCC unroll 4
  for (int k = 0; k < kWords; ++k) {
    const int row = kLag * k + block % kLag;
    __builtin_prefetch(rows.filtered(row, block) + kAhead, 0);
    __builtin_prefetch(rows.undone(row, block) + kAhead, 1);
  }
}

[[gnu::always_inline]] inline void put_words(const Words (&words)[kLag], const Rows &rows,
                                             int block) {
#pragma GCC unroll 8
  for (int r = 0; r < kLag; ++r)
#pragma GCC unroll 4
    for (int k = 0; k < kWords; ++k) {
      const std::uint64_t word = words[r][k];
      std::memcpy(rows.undone(kLag * k + r, block), &word, kLag);
    }
}

/// The words of a block in which some rows have none; these are 0. The last word of a row may be
/// a part.
class SomeWords {
 public:
  SomeWords(const Rows &rows, int block) : rows_(rows), block_(block) {
    const int whole = rows.bytes / kLag, row = block - whole;
    first_ = std::max(0, row + 1);
    end_ = std::min(rows.count, block + 1);
    if (row >= 0 && row < rows.count) part_ = rows.bytes % kLag;
  }
  void take(Words (&words)[kLag]) {
    if (part_ > 0) std::memcpy(word(first_ - 1), rows_.filtered(first_ - 1, block_), part_);
    for (int row = first_; row < end_; ++row)
      std::memcpy(word(row), rows_.filtered(row, block_), kLag);
    std::memcpy(words, words_, sizeof words_);
  }
  void put(const Words (&words)[kLag]) {
    std::memcpy(words_, words, sizeof words_);
    if (part_ > 0) std::memcpy(rows_.undone(first_ - 1, block_), word(first_ - 1), part_);
    for (int row = first_; row < end_; ++row)
      std::memcpy(rows_.undone(row, block_), word(row), kLag);
  }

 private:
  std::uint64_t *word(int row) { return &words_[row % kLag][row / kLag]; }

  const Rows &rows_;
  int block_;
  int first_, end_;  ///< rows that have a whole word
  int part_ = 0;     ///< bytes of the row before `first_`
  alignas(64) std::uint64_t words_[kLag][kWords] = {};
};

/// Undoes the filters of rows.
template <int kBytes>
[[gnu::always_inline]] inline void undo_rows(const Rows &rows, const Filters &all) {
  const Filters filters = all;
  const std::ptrdiff_t back = std::ptrdiff_t{1} * rows.pixel_bytes * kStep;
  alignas(64) std::uint8_t steps[(kBefore + kBlocks * kLag) * kStep];
  std::memset(steps, 0, kBefore * kStep);
  // Row 0 needs the first word of the row above before its own first block.
  for (int i = 0; i < std::min(kLag, rows.bytes); ++i)
    steps[(kLag + i) * kStep + kFirst - 1] = rows.above[i];
  const int blocks = (rows.bytes + kLag - 1) / kLag + rows.count - 1;
  Left last;
  std::uint8_t *step = steps + kBefore * kStep;
  for (int block = 0; block < blocks; ++block, step += kLag * kStep) {
    if (step == steps + sizeof steps) {
      step = steps + kBefore * kStep;
      std::memcpy(steps, steps + sizeof steps - kBefore * kStep, kBefore * kStep);
    }
    Words words[kLag];
    std::uint64_t above = 0;
    const int next = kLag * (block + 1);
    if (next < rows.bytes)
      std::memcpy(&above, rows.above + next, std::min(kLag, rows.bytes - next));
    if (rows.count == kLanes && block >= kLanes - 1 && next <= rows.bytes) {
      take_words(rows, block, words);
      undo_block<kBytes>(words, above, back, filters, step, last);
      put_words(words, rows, block);
    } else {
      SomeWords some(rows, block);
      some.take(words);
      undo_block<kBytes>(words, above, back, filters, step, last);
      some.put(words);
    }
  }
}

CUDASCAN_CLONES void undo_bytes(const Rows &rows, const Filters &filters) {
  undo_rows<1>(rows, filters);
}

CUDASCAN_CLONES void undo_pixels(const Rows &rows, const Filters &filters) {
  undo_rows<0>(rows, filters);
}

}  // namespace

Unfilter::Unfilter(int row_bytes, int pixel_bytes)
    : row_bytes_(row_bytes), pixel_bytes_(pixel_bytes), above_(row_bytes, 0) {}

bool Unfilter::next(const std::uint8_t *filtered, int count, std::uint8_t *to,
                    std::ptrdiff_t stride) {
  const std::ptrdiff_t from_stride = row_bytes_ + std::ptrdiff_t{1};
  Filters filters;
  if (!find_filters(filtered, from_stride, count, filters)) return false;
  const Rows rows{filtered + 1,  to,         from_stride, stride,
                  above_.data(), row_bytes_, count,       pixel_bytes_};
  if (pixel_bytes_ == 1)
    undo_bytes(rows, filters);
  else
    undo_pixels(rows, filters);
  std::memcpy(above_.data(), to + (count - 1) * stride, row_bytes_);
  return true;
}

}  // namespace cudascan::scan
