// SPDX-License-Identifier: LGPL-2.1-or-later
#include "reduce.h"

#include <algorithm>
#include <vector>

namespace cudascan::scan {
namespace {

/// sums[x] += row[x] in the upper 8 bits of the format. 64 rows of 8 bit fit into 16 bit.
template <typename T>
void add_row(const T *row, int width, std::uint16_t *sums) {
  constexpr int kShift = 8 * (sizeof(T) - 1);
  for (int x = 0; x < width; ++x)
    sums[x] = static_cast<std::uint16_t>(sums[x] + (row[x] >> kShift));
}

template <typename T>
void reduce(const Plane<const T> &from, int by_x, int by_y, const Plane<std::uint8_t> &to) {
  std::vector<std::uint16_t> sums(from.width);
  const std::uint32_t area = static_cast<std::uint32_t>(by_x) * by_y;
  for (int y = 0; y < to.height; ++y) {
    std::fill(sums.begin(), sums.end(), std::uint16_t{0});
    for (int row = y * by_y; row < (y + 1) * by_y; ++row)
      add_row(from.row(row), from.width, sums.data());
    for (int x = 0; x < to.width; ++x) {
      std::uint32_t sum = 0;
      for (int column = x * by_x; column < (x + 1) * by_x; ++column) sum += sums[column];
      to.row(y)[x] = static_cast<std::uint8_t>(sum / area);
    }
  }
}

}  // namespace

void reduce(const Image &from, int by_x, int by_y, Image &to) {
  to.shape(from.width / by_x, from.height / by_y, 8);
  if (from.depth == 8)
    reduce(from.plane<const std::uint8_t>(), by_x, by_y, to.plane<std::uint8_t>());
  else
    reduce(from.plane<const std::uint16_t>(), by_x, by_y, to.plane<std::uint8_t>());
}

}  // namespace cudascan::scan
