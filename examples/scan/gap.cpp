// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gap.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>
#include <vector>

namespace cudascan::scan {
namespace {

constexpr double kWideGap = 0.06, kAside = 0.08;  ///< of the width of the sheet
constexpr double kAcross = 0.06;                  ///< of its height: a heading
constexpr double kMargins = 0.6, kOtherGaps = 0.5;
constexpr double kSteepestGap = 0.07;
constexpr double kEnds = 0.5;  ///< of the ink at the beginnings of lines

/// The longest run of columns with no more ink than that. @return its begin and end
std::pair<int, int> longest_gap(const std::vector<int> &ink, int from, int to, int most) {
  int best_begin = from, best_end = from;
  for (int x = from; x < to; ++x) {
    const int begin = x;
    while (x < to && ink[x] <= most) ++x;
    if (x - begin > best_end - best_begin) {
      best_begin = begin;
      best_end = x;
    }
  }
  return {best_begin, best_end};
}

/// Whether it is text as on a page.
bool is_block(const BookCopy &copy, int left, int right, int gap, const std::vector<int> &ink,
              double slope) {
  const int few = std::max(1, (copy.height()) / 100);
  while (left < right && ink[left] <= few) ++left;
  while (right > left && ink[right - 1] <= few) --right;
  if (4 * (right - left) < copy.width()) return false;
  const auto [begin, end] =
      longest_gap(ink, left, right, static_cast<int>(kAcross * copy.height()));
  if (end - begin > kOtherGaps * gap) return false;
  // The ends of short lines, as of a list, are far apart: there is little ink at their side.
  const int third = (right - left) / 3;
  const auto begins = ink.begin() + left, ends = ink.begin() + right;
  if (std::accumulate(ends - third, ends, 0) < kEnds * std::accumulate(begins, begins + third, 0))
    return false;
  int rows = 0;
  for (int y = copy.top(); y < copy.bottom(); ++y) {
    const int shift = copy.shift(slope, y);
    const std::uint8_t *row = copy.ink(y);
    int count = 0;
    for (int x = std::max(left, -shift); x < std::min(right, copy.levels().width - shift); ++x)
      count += row[x + shift];
    rows += 8 * count >= right - left;
  }
  return 5 * rows >= copy.height();
}

}  // namespace

bool find_gap(const BookCopy &copy, UprightLine &line) {
  const int width = copy.width(), height = copy.height(), middle = (copy.left() + copy.right()) / 2;
  const int dirt = std::max(1, static_cast<int>(kAcross * height));
  const double step = 3. / height;
  const int steps = static_cast<int>(kSteepestGap / step);
  std::vector<int> ink;
  int begin = 0, end = 0;
  double slope = 0;
  for (int i = -steps; i <= steps; ++i) {
    const int from = middle - width / 4, to = middle + width / 4;
    copy.count_ink(i * step, from, to, ink);
    const auto gap = longest_gap(ink, from, to, dirt);
    if (gap.second - gap.first <= end - begin) continue;
    begin = gap.first;
    end = gap.second;
    slope = i * step;
  }
  const int gap = end - begin;
  if (gap < kWideGap * width) return false;
  if (std::abs(begin + end - 2 * middle) > 2 * kAside * width) return false;
  copy.count_ink(slope, 0, copy.levels().width, ink);
  const int few = std::max(1, height / 100);
  int first = copy.left(), last = copy.right();
  while (first < begin && ink[first] <= few) ++first;
  while (last > end && ink[last - 1] <= few) --last;
  if (gap < kMargins * (first - copy.left() + copy.right() - last)) return false;
  if (!is_block(copy, copy.left(), begin, gap, ink, slope)) return false;
  if (!is_block(copy, end, copy.right(), gap, ink, slope)) return false;
  // Each page may be turned by itself: the middles of the upper and of the lower half.
  const auto middle_of = [&](BookCopy::Rows rows) {
    copy.count_ink(slope, begin - gap / 2, end + gap / 2, ink, rows);
    int first = (begin + end) / 2, last = first;
    while (first > begin - gap / 2 && ink[first - 1] <= dirt / 2) --first;
    while (last < end + gap / 2 && ink[last] <= dirt / 2) ++last;
    return (first + last) / 2.;
  };
  const double upper = middle_of(BookCopy::Rows::upper), lower = middle_of(BookCopy::Rows::lower);
  slope += (lower - upper) / (height / 2.);
  double at = (upper + lower) / 2.;
  if (copy.left() > 0 &&
      copy.right() < copy.levels().width)  // the pages of a book are equally wide
    at = std::clamp(1. * middle, begin + 0.2 * gap, end - 0.2 * gap);
  line = {at, slope};
  return true;
}

}  // namespace cudascan::scan
