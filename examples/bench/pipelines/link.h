// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <cstddef>

#include "bench/bench.h"

namespace cudascan::bench {

/// Microseconds that a frame takes between pinned memory and the GPU; NaN where there is none.
struct Link {
  double up = kUnknown, down = kUnknown, both = kUnknown;
};

/// Never throws: where the link cannot be measured it says so and nothing is known.
Link measure_link(std::size_t frame_bytes);
void print(const Link &link, std::size_t frame_bytes);

}  // namespace cudascan::bench
