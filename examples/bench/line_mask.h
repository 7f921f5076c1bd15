// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <cstdint>
#include <vector>

namespace cudascan::bench {

/// A line segment (kernels/linearopen/digital_lines.h) for libraries that support only masks.
struct LineMask {
  int width, height;
  int anchor_x, anchor_y;           ///< the pixel of the mask that is the segment's centre
  std::vector<std::uint8_t> cells;  ///< row by row, 1 on the line
};

LineMask line_mask(int length, double angle);

}  // namespace cudascan::bench
