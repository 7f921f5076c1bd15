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
constexpr int kBlocks = 16;                         ///< of kLag steps, that are made together

using Lanes = std::uint8_t __attribute__((vector_size(kLanes)));
using Words = std::uint64_t __attribute__((vector_size(kLanes)));

/// A part of the rows, 8 bytes a word. Row kLag * k + r has in block i the word that is so many
/// further back.
struct Part {
  alignas(64) std::uint64_t words[kBlocks][kLag][kWords];
  std::uint64_t above[kBlocks];  ///< of the row above, one word further on
  std::uint64_t *of(int row) { return &words[0][row % kLag][row / kLag]; }
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

/// Undoes the filters in the next step.
[[gnu::always_inline]] inline void undo_step(std::uint8_t *step, std::ptrdiff_t back,
                                             const Filters &filters) {
  const std::uint8_t *const row_above = step + kFirst - 1 - kLag * kStep;
  Lanes here, left, above, corner;
  std::memcpy(&here, step + kFirst, kLanes);
  std::memcpy(&left, step + kFirst - back, kLanes);
  std::memcpy(&above, row_above, kLanes);
  std::memcpy(&corner, row_above - back, kLanes);
  // How far Paeth's estimate, left + above - corner, is from each of the three. The distance from
  // the corner is the sum of the other two or, if left and above are on different sides of it,
  // their difference. The sum is never the least; 255 is as good, and fits.
  const Lanes to_left = (above > corner ? above : corner) - (above < corner ? above : corner);
  const Lanes to_above = (left > corner ? left : corner) - (left < corner ? left : corner);
  const Lanes difference =
      (to_left > to_above ? to_left : to_above) - (to_left < to_above ? to_left : to_above);
  const Lanes to_corner = (left > corner) == (above > corner) ? Lanes{} - 1 : difference;
  const Lanes other = to_above <= to_corner ? above : corner;
  const Lanes paeth = ((to_left <= to_above) & (to_left <= to_corner)) ? left : other;
  const Lanes average = (left & above) + ((left ^ above) >> 1);
  here += (left & filters.sub) | (above & filters.up) | (average & filters.average) |
          (paeth & filters.paeth);
  std::memcpy(step + kFirst, &here, kLanes);
}

/// Undoes the filters of a part.
/// @param steps  room for kBefore steps, which are those before the part, and those of the part
CUDASCAN_CLONES void undo(Part &part, int pixel_bytes, const Filters &all, std::uint8_t *steps) {
  const Filters filters = all;
  const std::ptrdiff_t back = std::ptrdiff_t{1} * pixel_bytes * kStep;
  std::uint8_t *step = steps + kBefore * kStep;
  for (int block = 0; block < kBlocks; ++block, step += kLag * kStep) {
    Words words[kLag];
    std::memcpy(words, part.words[block], sizeof words);
    transpose(words);
    for (int i = 0; i < kLag; ++i) std::memcpy(step + i * kStep + kFirst, &words[i], kLanes);
    for (int i = 0; i < kLag; ++i)
      step[i * kStep + kFirst - 1] = static_cast<std::uint8_t>(part.above[block] >> 8 * i);
    for (int i = 0; i < kLag; ++i) undo_step(step + i * kStep, back, filters);
    for (int i = 0; i < kLag; ++i) std::memcpy(&words[i], step + i * kStep + kFirst, kLanes);
    transpose(words);
    std::memcpy(part.words[block], words, sizeof words);
  }
  std::memcpy(steps, step - kBefore * kStep, kBefore * kStep);
}

/// Copies words of a row; 0 outside.
/// @param word    the first of them; they are kBlocks
/// @param stride  between two words of `to`
void take_words(const std::uint8_t *row, int bytes, int word, std::uint64_t *to, int stride) {
  if (word >= 0 && kLag * (word + kBlocks) <= bytes) {
    for (int i = 0; i < kBlocks; ++i) std::memcpy(to + i * stride, row + kLag * (word + i), kLag);
    return;
  }
  for (int i = 0; i < kBlocks; ++i) {
    const int at = kLag * (word + i);
    to[i * stride] = 0;
    if (at >= 0 && at < bytes) std::memcpy(to + i * stride, row + at, std::min(kLag, bytes - at));
  }
}

/// Copies words to a row, as far as they are in it.
void put_words(const std::uint64_t *from, int stride, int word, std::uint8_t *row, int bytes) {
  if (word >= 0 && kLag * (word + kBlocks) <= bytes) {
    for (int i = 0; i < kBlocks; ++i) std::memcpy(row + kLag * (word + i), from + i * stride, kLag);
    return;
  }
  for (int i = 0; i < kBlocks; ++i) {
    const int at = kLag * (word + i);
    if (at >= 0 && at < bytes) std::memcpy(row + at, from + i * stride, std::min(kLag, bytes - at));
  }
}

}  // namespace

Unfilter::Unfilter(int row_bytes, int pixel_bytes)
    : row_bytes_(row_bytes), pixel_bytes_(pixel_bytes), above_(row_bytes, 0) {}

bool Unfilter::next(const std::uint8_t *filtered, int count, std::uint8_t *to,
                    std::ptrdiff_t stride) {
  Filters filters;
  if (!find_filters(filtered, row_bytes_ + std::ptrdiff_t{1}, count, filters)) return false;
  alignas(64) std::uint8_t steps[(kBefore + kBlocks * kLag) * kStep];
  std::memset(steps, 0, kBefore * kStep);
  // Row 0 needs the first word of the row above before its own first block.
  for (int i = 0; i < std::min(kLag, row_bytes_); ++i)
    steps[(kLag + i) * kStep + kFirst - 1] = above_[i];
  Part part{};
  constexpr int kBetween = kLag * kWords;
  const int blocks = (row_bytes_ + kLag - 1) / kLag + count - 1;
  for (int block = 0; block < blocks; block += kBlocks) {
    take_words(above_.data(), row_bytes_, block + 1, part.above, 1);
    for (int row = 0; row < count; ++row)
      take_words(filtered + (row_bytes_ + std::ptrdiff_t{1}) * row + 1, row_bytes_, block - row,
                 part.of(row), kBetween);
    undo(part, pixel_bytes_, filters, steps);
    for (int row = 0; row < count; ++row)
      put_words(part.of(row), kBetween, block - row, to + row * stride, row_bytes_);
  }
  std::memcpy(above_.data(), to + (count - 1) * stride, row_bytes_);
  return true;
}

}  // namespace cudascan::scan
