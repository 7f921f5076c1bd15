// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <cstddef>

#include "bench/bench.h"

namespace cudascan::bench {

/// Microseconds for a frame between pinned memory and the GPU; NaN without a GPU.
struct Link {
  double up = kUnknown, down = kUnknown, both = kUnknown;
};

/// Never throws: if the link cannot be measured, it prints why and the times stay unknown.
Link measure_link(std::size_t frame_bytes);
void print(const Link &link, std::size_t frame_bytes);

}  // namespace cudascan::bench
