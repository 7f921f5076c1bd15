// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/line_mask.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "kernels/linearopen/digital_lines.h"

namespace cudascan::bench {

LineMask line_mask(int length, double angle) {
  const auto direction = lines::Direction::of(angle);
  const int begin = -(length / 2), last = (length - 1) / 2;
  const int shift_begin = direction.shift(begin), shift_last = direction.shift(last);
  const int across = std::abs(shift_last - shift_begin) + 1;
  const int origin = -std::min(shift_begin, shift_last);
  LineMask mask{across, length, origin, -begin, {}};
  if (!direction.steep) {
    std::swap(mask.width, mask.height);
    std::swap(mask.anchor_x, mask.anchor_y);
  }
  mask.cells.resize(static_cast<std::size_t>(mask.width) * mask.height);
  for (int t = begin; t <= last; ++t) {
    const int s = direction.shift(t);
    const int x = mask.anchor_x + (direction.steep ? s : t);
    const int y = mask.anchor_y + (direction.steep ? t : s);
    mask.cells[static_cast<std::size_t>(y) * mask.width + x] = 1;
  }
  return mask;
}

}  // namespace cudascan::bench
