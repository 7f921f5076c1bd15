// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <cstddef>
#include <cstdint>

namespace cudascan::scan {

/// The highest level that at least `least` of the numbers reach; 0 if fewer reach 1. So numbers of
/// 0 may be left out, or more of them added.
/// @param numbers  `count` of them
int level_reached(const std::uint8_t *numbers, std::size_t count, std::size_t least);

}  // namespace cudascan::scan
