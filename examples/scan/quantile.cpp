// SPDX-License-Identifier: LGPL-2.1-or-later
#include "quantile.h"

#include <algorithm>

#include "clones.h"

namespace cudascan::scan {
namespace {

/// How many numbers reach the level.
CUDASCAN_CLONES std::size_t count_from(const std::uint8_t *numbers, std::size_t count,
                                       std::uint8_t level) {
  constexpr std::size_t kLanes = 64, kMost = 255;  // counts of a lane that fit into 8 bits
  std::size_t sum = 0;
  for (; count >= kLanes;) {
    const std::size_t rounds = std::min(kMost, count / kLanes);
    std::uint8_t lanes[kLanes] = {};
    for (std::size_t round = 0; round < rounds; ++round, numbers += kLanes)
      for (std::size_t i = 0; i < kLanes; ++i)
        lanes[i] = static_cast<std::uint8_t>(lanes[i] + (numbers[i] >= level ? 1 : 0));
    for (const std::uint8_t lane : lanes) sum += lane;
    count -= rounds * kLanes;
  }
  for (std::size_t i = 0; i < count; ++i) sum += numbers[i] >= level ? 1 : 0;
  return sum;
}

}  // namespace

int level_reached(const std::uint8_t *numbers, std::size_t count, std::size_t least) {
  int level = 0;
  for (int bit = 128; bit > 0; bit /= 2)
    if (count_from(numbers, count, static_cast<std::uint8_t>(level + bit)) >= least) level += bit;
  return level;
}

}  // namespace cudascan::scan
