// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cell_rows.h"

#include <cstring>

#include "clones.h"

namespace cudascan::scan {

CUDASCAN_CLONES void add_row(const std::uint8_t *row, int width, int *sums) {
  for (int x = 0; x < width; ++x) sums[x] += row[x];
}

CUDASCAN_CLONES void mean_rows(const int *sums, int width, int rows, std::uint8_t *to) {
  // The inverse is too large by less than `rows` units of 2^-20, so the quotients are exact.
  constexpr int kShift = 20;
  const auto inverse = static_cast<std::uint32_t>(((1 << kShift) + rows - 1) / rows);
  for (int x = 0; x < width; ++x)
    to[x] = static_cast<std::uint8_t>(static_cast<std::uint32_t>(sums[x]) * inverse >> kShift);
}

CUDASCAN_CLONES void find_below(const std::uint8_t *levels, const std::uint8_t *set,
                                std::uint8_t level, std::size_t count, std::uint8_t *to) {
  for (std::size_t i = 0; i < count; ++i)
    to[i] = static_cast<std::uint8_t>((levels[i] < level ? 1 : 0) | set[i]);
}

CUDASCAN_CLONES void clear_where(const std::uint8_t *set, std::size_t count, std::uint8_t *cells) {
  for (std::size_t i = 0; i < count; ++i) cells[i] = set[i] ? 0 : cells[i];
}

CUDASCAN_CLONES void count_set(const std::uint8_t *cells, int width, std::uint8_t most,
                               std::uint8_t *counts) {
  for (int x = 0; x < width; ++x) {
    const std::uint8_t one_more = counts[x] < most ? counts[x] + 1 : most;
    counts[x] = cells[x] ? one_more : 0;
  }
}

CUDASCAN_CLONES void count_since(const std::uint8_t *cells, int width, std::uint8_t most,
                                 std::uint8_t *counts) {
  for (int x = 0; x < width; ++x) {
    const std::uint8_t one_less = counts[x] > 0 ? counts[x] - 1 : 0;
    counts[x] = cells[x] ? most : one_less;
  }
}

CUDASCAN_CLONES void find_equal(const std::uint8_t *numbers, int width, std::uint8_t number,
                                std::uint8_t *to) {
  for (int x = 0; x < width; ++x) to[x] = numbers[x] == number ? 1 : 0;
}

CUDASCAN_CLONES void and_with(const std::uint8_t *cells, int width, std::uint8_t *to) {
  for (int x = 0; x < width; ++x) to[x] = to[x] & cells[x];
}

CUDASCAN_CLONES void or_with(const std::uint8_t *numbers, int width, std::uint8_t *to) {
  for (int x = 0; x < width; ++x) to[x] = numbers[x] ? 1 : to[x];
}

CUDASCAN_CLONES void set_next_to(const std::uint8_t *above, const std::uint8_t *here,
                                 const std::uint8_t *below, const std::uint8_t *levels, int level,
                                 int width, std::uint8_t *to) {
  for (int x = 0; x < width; ++x) {
    const int near = above[x - 1] | above[x] | above[x + 1] | here[x - 1] | here[x + 1] |
                     below[x - 1] | below[x] | below[x + 1];
    to[x] = static_cast<std::uint8_t>(to[x] | (levels[x] < level ? near : 0));
  }
}

std::size_t next_set(const std::vector<std::uint8_t> &cells, std::size_t from) {
  const void *const found = std::memchr(cells.data() + from, 1, cells.size() - from);
  return found ? static_cast<std::size_t>(static_cast<const std::uint8_t *>(found) - cells.data())
               : cells.size();
}

}  // namespace cudascan::scan
