// SPDX-License-Identifier: LGPL-2.1-or-later
#include "nearest.h"

#include <algorithm>

#include "clones.h"

namespace cudascan::scan {
namespace {

using Nearest = std::uint32_t;

constexpr int kDistanceBit = 11, kOrderBit = 8;  ///< the level has the bits below
constexpr Nearest kFar = Nearest{1} << 31;       ///< further than any cell
constexpr Nearest kOrders = 7 << kOrderBit, kLevel = 255;

/// A step of that length; of equal distances the one with the lower order is taken.
constexpr Nearest step(Nearest length, Nearest order) {
  return length << kDistanceBit | order << kOrderBit;
}

/// Takes what is nearer by way of a neighbouring row.
/// @param other   the other row at the same cells
/// @param limits  gets what the cell before in the row must be below
CUDASCAN_CLONES void take_nearer(const Nearest *other, Nearest left, Nearest middle, Nearest right,
                                 int count, Nearest *__restrict own, Nearest *__restrict limits) {
  const Nearest *const before = other - 1;
  for (int x = 0; x < count; ++x) {
    const Nearest aside = std::min(before[x] + left, other[x + 1] + right);
    const Nearest best = std::min(own[x], std::min(other[x] + middle, aside));
    own[x] = best & ~kOrders;
    limits[x] = best - step(0, 1);
  }
}

/// The same by way of the cell before, in a row from one end to the other.
/// @param sign  1 = to the right
void pass_on(int sign, int count, Nearest *own, const Nearest *limits) {
  Nearest nearest = own[-sign];
  for (int i = 0; i != sign * count; i += sign) {
    const Nearest passed = nearest + step(3, 0);
    own[i] = nearest = passed < limits[i] ? passed : own[i];
  }
}

CUDASCAN_CLONES void brightest_of(const std::uint8_t *row, std::ptrdiff_t stride, int count,
                                  std::uint8_t *__restrict to) {
  const std::uint8_t *const above = row - stride, *const first = above - stride;
  const std::uint8_t *const below = row + stride, *const last = below + stride;
  for (int x = 0; x < count; ++x)
    to[x] = std::max(std::max(row[x], std::max(above[x], below[x])), std::max(first[x], last[x]));
}

}  // namespace

/// Sets the distances to 0 at the edge and to kFar in the border.
void NearestLevels::start(const CellBits &border, const CellBits &edge, std::uint8_t *levels) {
  const std::ptrdiff_t stride = std::ptrdiff_t{1} * border.words() * CellBits::kWord;
  const int words = border.words();
  if (border.width() != width_ || border.height() != height_) {
    width_ = border.width();
    height_ = border.height();
    nearest_.assign(stride * (height_ + 2), kFar);
    limits_.resize(stride);
    brightest_.assign(stride + 2 * kNear, 0);
  }
  const auto for_border = [&](int y, auto use) { for_runs(border.row(y), words, use); };
  for (int y = 0; y < height_; ++y)
    for_border(y, [&](int begin, int end) {
      std::uint8_t *const row = levels + y * stride + 1;
      std::fill(row + begin, row + end, std::uint8_t{0});
      Nearest *const to = nearest_.data() + (y + 1) * stride + 1;
      std::fill(to + begin, to + end, kFar);
    });
  for (int y = 0; y < height_; ++y) {
    const bool any = std::any_of(edge.row(y), edge.row(y) + words, [](auto word) { return word; });
    if (!any) continue;
    brightest_of(levels + y * stride, stride, static_cast<int>(stride), brightest_.data() + kNear);
    Nearest *const to = nearest_.data() + (y + 1) * stride + 1;
    for_runs(edge.row(y), words, [&](int begin, int end) {
      for (int x = begin; x < end; ++x) {
        const auto around = brightest_.begin() + x + 1;  // two cells before it
        to[x] = *std::max_element(around, around + 2 * kNear + 1);
      }
    });
  }
}

void NearestLevels::fill(const CellBits &border, const CellBits &edge, std::uint8_t *levels) {
  start(border, edge, levels);
  const int words = border.words();
  const std::ptrdiff_t stride = std::ptrdiff_t{1} * words * CellBits::kWord;
  const auto row = [&](int y) { return nearest_.data() + (y + 1) * stride + 1; };
  for (int y = 0; y < height_; ++y)
    for_runs(border.row(y), words, [&](int begin, int end) {
      take_nearer(row(y - 1) + begin, step(4, 2), step(3, 3), step(4, 4), end - begin,
                  row(y) + begin, limits_.data());
      pass_on(1, end - begin, row(y) + begin, limits_.data());
    });
  for (int y = height_ - 1; y >= 0; --y)
    for_runs(border.row(y), words, [&](int begin, int end) {
      take_nearer(row(y + 1) + begin, step(4, 4), step(3, 3), step(4, 2), end - begin,
                  row(y) + begin, limits_.data());
      const int last = end - begin - 1;
      pass_on(-1, end - begin, row(y) + end - 1, limits_.data() + last);
      for (int x = begin; x < end; ++x)
        levels[y * stride + x + 1] = static_cast<std::uint8_t>(row(y)[x] & kLevel);
    });
}

}  // namespace cudascan::scan
