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
  const Lanes flip = above < corner;
  const Lanes a = left ^ flip, b = above ^ flip, c = corner ^ flip;
  const Lanes d = b - c, half = d >> 1, next = c + (c < 255 ? Lanes{} + 1 : Lanes{});
  const Lanes near = c - (c < half ? c : half);
  const Lanes once = next - (next < d ? next : d);
  const Lanes far = once - (once < d ? once : d);
  const Lanes other = a < far ? a : c;
  const Lanes paeth = (a >= near ? (a > b ? a : b) : other) ^ flip;
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
    if (rows.count == kLanes && block >= kLanes - 1 && next <= rows.bytes) {  // all rows have words
#pragma GCC unroll 8
      for (int r = 0; r < kLag; ++r) {
        std::uint64_t word[kWords];
#pragma GCC unroll 4
        for (int k = 0; k < kWords; ++k)
          std::memcpy(&word[k], rows.filtered(kLag * k + r, block), kLag);
        words[r] = Words{word[0], word[1], word[2], word[3]};
      }
      undo_block<kBytes>(words, above, back, filters, step, last);
#pragma GCC unroll 8
      for (int r = 0; r < kLag; ++r)
#pragma GCC unroll 4
        for (int k = 0; k < kWords; ++k) {
          const std::uint64_t word = words[r][k];
          std::memcpy(rows.undone(kLag * k + r, block), &word, kLag);
        }
      continue;
    }
    // Rows from `first` to `last` have a word, and the one before may have a part of it.
    const int whole = rows.bytes / kLag, part = rows.bytes % kLag;
    const int first = std::max(0, block - whole + 1), last_row = std::min(rows.count - 1, block);
    const int row_of_part =
        part > 0 && block >= whole && block - whole < rows.count ? block - whole : -1;
    alignas(64) std::uint64_t some[kLag][kWords] = {};
    const auto word_of = [&](int row) { return &some[row % kLag][row / kLag]; };
    for (int row = first; row <= last_row; ++row)
      std::memcpy(word_of(row), rows.filtered(row, block), kLag);
    if (row_of_part >= 0)
      std::memcpy(word_of(row_of_part), rows.filtered(row_of_part, block), part);
    std::memcpy(words, some, sizeof some);
    undo_block<kBytes>(words, above, back, filters, step, last);
    std::memcpy(some, words, sizeof some);
    for (int row = first; row <= last_row; ++row)
      std::memcpy(rows.undone(row, block), word_of(row), kLag);
    if (row_of_part >= 0) std::memcpy(rows.undone(row_of_part, block), word_of(row_of_part), part);
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
