// SPDX-License-Identifier: LGPL-2.1-or-later
#include "sheet.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "clones.h"
#include "quantile.h"

namespace cudascan::scan {
namespace {

/// Rows at the edge of the sheet that are left out: edges are blurred.
constexpr int kEdgeBelow = 5, kEdgeAbove = 6;

constexpr int kTogether = 8;  ///< pixels that are looked at in one number
constexpr std::uint64_t kEach = 0x0101010101010101, kHighest = 0x80 * kEach;
static_assert(std::endian::native == std::endian::little);

/// Sets the highest bit of each of 8 pixels that reach a level. @param level  0..128
std::uint64_t reach(const std::uint8_t *pixels, int level) {
  std::uint64_t all;
  std::memcpy(&all, pixels, sizeof all);
  return (((all & ~kHighest) + static_cast<std::uint64_t>(128 - level) * kEach) | all) & kHighest;
}

/// Where the first pixel is that reaches the level; `width` if none does.
int first_from(const std::uint8_t *row, int width, int level) {
  int x = 0;
  for (; x + kTogether <= width; x += kTogether)
    if (const std::uint64_t found = reach(row + x, level)) return x + std::countr_zero(found) / 8;
  while (x < width && row[x] < level) ++x;
  return x;
}

/// Where the pixels end after the last one that reaches the level; 0 if none does.
int end_from(const std::uint8_t *row, int width, int level) {
  int x = width;
  for (; x >= kTogether; x -= kTogether)
    if (const std::uint64_t found = reach(row + x - kTogether, level))
      return x - std::countl_zero(found) / 8;
  while (x > 0 && row[x - 1] < level) --x;
  return x;
}

/// Counts the dark pixels of columns that were dark so far.
/// @param step  bytes to the next row
/// @param rows  at most 255
/// @param dark  1 where a column is dark so far
CUDASCAN_CLONES void add_dark(const std::uint8_t *row, std::ptrdiff_t step, int rows, int count,
                              std::uint8_t level, std::uint8_t *__restrict dark,
                              std::uint8_t *__restrict counts) {
  for (int y = 0; y < rows; ++y, row += step)
    for (int x = 0; x < count; ++x) {
      dark[x] &= row[x] < level ? 1 : 0;
      counts[x] = static_cast<std::uint8_t>(counts[x] + dark[x]);
    }
}

/// Replaces each value by the extreme of those from two before it to three after it.
template <typename F>
void take_extremes(std::vector<int> &values, std::vector<int> &before, F better) {
  before = values;
  const int count = static_cast<int>(values.size());
  for (int aside = -2; aside <= 3; ++aside) {
    const int begin = std::max(0, -aside), end = std::min(count, count - aside);
    const int *const near = before.data() + aside;
    int *const to = values.data();
    for (int y = begin; y < end; ++y) to[y] = better(to[y], near[y]);
  }
}

}  // namespace

void Sheet::find_paper(const Image &page) {
  constexpr int kSampledRows = 3;  // every third row is enough
  const int rows = (page.height + kSampledRows - 1) / kSampledRows;
  const auto stride = static_cast<std::size_t>(page.stride());
  sampled_.resize(stride * rows);
  const auto levels = page.plane<const std::uint8_t>();
  for (int i = 0; i < rows; ++i) {
    std::uint8_t *const to = sampled_.data() + stride * i;
    std::memcpy(to, levels.row(kSampledRows * i), page.width);
    std::fill(to + page.width, to + stride, std::uint8_t{0});
  }
  paper_ = level_reached(sampled_.data(), sampled_.size(), std::size_t{1} * page.width * rows / 3);
}

void Sheet::find_sides(const Image &page) {
  left_.resize(page.height);
  right_.resize(page.height);
  const auto levels = page.plane<const std::uint8_t>();
  const int dark = paper_ / 2;
  for (int y = 0; y < page.height; ++y) {
    const int left = first_from(levels.row(y), page.width, dark);
    const int right = left < page.width ? end_from(levels.row(y), page.width, dark) : page.width;
    left_[y] = left > 0 ? left + 1 : 0;
    right_[y] = right < page.width ? right - 1 : page.width;
  }
  take_extremes(left_, space_, [](int a, int b) { return std::max(a, b); });
  take_extremes(right_, space_, [](int a, int b) { return std::min(a, b); });
}

void Sheet::count_dark(const Image &page, bool from_top, std::vector<int> &counts) {
  constexpr int kRows = 32;  // then it is looked whether a column is dark still
  const auto levels = page.plane<const std::uint8_t>();
  const int columns = static_cast<int>(page.stride());
  counts.assign(page.width, 0);
  dark_.assign(columns, 0);
  std::fill_n(dark_.begin(), page.width, std::uint8_t{1});
  for (int begin = 0; begin < page.height; begin += kRows) {
    if (!std::memchr(dark_.data(), 1, page.width)) return;
    const int rows = std::min(kRows, page.height - begin);
    counts_.assign(columns, 0);
    add_dark(levels.row(from_top ? begin : page.height - 1 - begin),
             from_top ? levels.stride : -levels.stride, rows, columns,
             static_cast<std::uint8_t>(paper_ / 2), dark_.data(), counts_.data());
    for (int x = 0; x < page.width; ++x) counts[x] += counts_[x];
  }
}

void Sheet::measure(const Image &page) {
  find_paper(page);
  find_sides(page);
  count_dark(page, true, top_);
  count_dark(page, false, bottom_);
  for (int x = 0; x < page.width; ++x) {
    // A column without bright pixels has no lower edge.
    const bool is_open = bottom_[x] == 0 || bottom_[x] == page.height;
    bottom_[x] = page.height - (is_open ? 0 : bottom_[x] + kEdgeAbove);
    top_[x] += top_[x] > 0 ? kEdgeBelow : 0;
  }
}

}  // namespace cudascan::scan
