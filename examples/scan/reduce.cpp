// SPDX-License-Identifier: LGPL-2.1-or-later
#include "reduce.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "clones.h"

namespace cudascan::scan {
namespace {

// The upper 8 bits of levels are added. 64 rows of them fit into 16 bits.
constexpr int kMostInSum = 256;  ///< levels that certainly fit into 16 bits

CUDASCAN_CLONES void set(const std::uint8_t *row, int width, std::uint16_t *sums) {
  for (int x = 0; x < width; ++x) sums[x] = row[x];
}

CUDASCAN_CLONES void set(const std::uint16_t *row, int width, std::uint16_t *sums) {
  for (int x = 0; x < width; ++x) sums[x] = row[x] >> 8;
}

CUDASCAN_CLONES void add(const std::uint8_t *row, int width, std::uint16_t *sums) {
  for (int x = 0; x < width; ++x) sums[x] = static_cast<std::uint16_t>(sums[x] + row[x]);
}

CUDASCAN_CLONES void add(const std::uint16_t *row, int width, std::uint16_t *sums) {
  for (int x = 0; x < width; ++x) sums[x] = static_cast<std::uint16_t>(sums[x] + (row[x] >> 8));
}

CUDASCAN_CLONES void add_pairs(const std::uint16_t *__restrict sums, int pairs,
                               std::uint16_t *__restrict to) {
  for (int x = 0; x < pairs; ++x) to[x] = static_cast<std::uint16_t>(sums[2 * x] + sums[2 * x + 1]);
}

constexpr int kShift = 40;

/// sums / area = sums * inverse >> kShift, exactly: the inverse is too large by less than 2^12
/// units, and a sum is less than 2^20.
std::uint64_t inverse_of(std::uint32_t area) {
  return ((std::uint64_t{1} << kShift) + area - 1) / area;
}

CUDASCAN_CLONES void divide(const std::uint16_t *sums, int count, std::uint64_t inverse,
                            std::uint8_t *to) {
  for (int x = 0; x < count; ++x) to[x] = static_cast<std::uint8_t>(sums[x] * inverse >> kShift);
}

template <typename T>
void reduce(const Plane<const T> &from, int by_x, int by_y, const Plane<std::uint8_t> &to) {
  std::vector<std::uint16_t> sums(from.width), pairs(from.width);
  const std::uint64_t inverse = inverse_of(static_cast<std::uint32_t>(by_x) * by_y);
  for (int y = 0; y < to.height; ++y) {
    set(from.row(y * by_y), from.width, sums.data());
    for (int row = y * by_y + 1; row < (y + 1) * by_y; ++row)
      add(from.row(row), from.width, sums.data());
    int together = 1;  // columns in a sum
    for (; (by_x / together) % 2 == 0 && 2 * together * by_y <= kMostInSum; together *= 2) {
      add_pairs(sums.data(), from.width / together / 2, pairs.data());
      std::swap(sums, pairs);
    }
    const int left = by_x / together;
    if (left == 1) {
      divide(sums.data(), to.width, inverse, to.row(y));
      continue;
    }
    for (int x = 0; x < to.width; ++x) {
      std::uint64_t sum = 0;
      for (int i = x * left; i < (x + 1) * left; ++i) sum += sums[i];
      to.row(y)[x] = static_cast<std::uint8_t>(sum * inverse >> kShift);
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
