// SPDX-License-Identifier: LGPL-2.1-or-later
#include "sheet.h"

#include <algorithm>
#include <array>

namespace cudascan::scan {
namespace {

using Levels = Plane<const std::uint8_t>;

/// Rows at the edge of the sheet that are left out: edges are blurred.
constexpr int kEdgeBelow = 5, kEdgeAbove = 6;

int paper_level(const Levels &page) {
  constexpr int kSampledRows = 3;  // every third row is enough
  std::array<long, 256> counts{};
  long all = 0;
  for (int y = 0; y < page.height; y += kSampledRows, all += page.width)
    for (int x = 0; x < page.width; ++x) ++counts[page.row(y)[x]];
  int level = 255;
  for (long above = counts[255]; level > 0 && above < all / 3; above += counts[level]) --level;
  return level;
}

/// The extreme of each value and its neighbours.
template <typename F>
std::vector<int> extremes(const std::vector<int> &values, F better) {
  std::vector<int> result(values);
  const int last = static_cast<int>(values.size()) - 1;
  for (int y = 0; y <= last; ++y)
    for (int near = std::max(0, y - 2); near <= std::min(last, y + 3); ++near)
      result[y] = better(result[y], values[near]);
  return result;
}

}  // namespace

Sheet::Sheet(const Levels &page)
    : paper_(paper_level(page)),
      left_(page.height),
      right_(page.height),
      top_(page.width, 0),
      bottom_(page.width, 0) {
  const int dark = paper_ / 2;
  for (int y = 0; y < page.height; ++y) {
    const std::uint8_t *row = page.row(y);
    int left = 0, right = page.width;
    while (left < page.width && row[left] < dark) ++left;
    while (right > left && row[right - 1] < dark) --right;
    left_[y] = left > 0 ? left + 1 : 0;
    right_[y] = right < page.width ? right - 1 : page.width;
  }
  for (int x = 0; x < page.width; ++x) {
    int top = 0, bottom = page.height;
    while (top < page.height && page.row(top)[x] < dark) ++top;
    while (bottom > top && page.row(bottom - 1)[x] < dark) --bottom;
    top_[x] = top > 0 ? top + kEdgeBelow : 0;
    bottom_[x] = bottom < page.height ? bottom - kEdgeAbove : page.height;
  }
  lowest_top_ = *std::max_element(top_.begin(), top_.end());
  highest_bottom_ = *std::min_element(bottom_.begin(), bottom_.end());
  left_ = extremes(left_, [](int a, int b) { return std::max(a, b); });
  right_ = extremes(right_, [](int a, int b) { return std::min(a, b); });
}

}  // namespace cudascan::scan
