// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cell_rows.h"

#include "clones.h"

namespace cudascan::scan {

CUDASCAN_CLONES void add_row(const std::uint8_t *row, int width, std::uint16_t *sums) {
  for (int x = 0; x < width; ++x) sums[x] = static_cast<std::uint16_t>(sums[x] + row[x]);
}

CUDASCAN_CLONES void mean_rows(const std::uint16_t *sums, int width, int rows, std::uint8_t *to) {
  // The inverse is too large by less than `rows` units of 2^-20, so the quotients are exact.
  constexpr int kShift = 20;
  const auto inverse = static_cast<std::uint32_t>(((1 << kShift) + rows - 1) / rows);
  for (int x = 0; x < width; ++x) to[x] = static_cast<std::uint8_t>(sums[x] * inverse >> kShift);
}

CUDASCAN_CLONES void find_below(const std::uint8_t *levels, std::uint8_t level, std::size_t count,
                                std::uint8_t *to) {
  for (std::size_t i = 0; i < count; ++i) to[i] = levels[i] < level ? 1 : 0;
}

}  // namespace cudascan::scan
