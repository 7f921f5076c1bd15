// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/polygons.h"

#include <algorithm>
#include <cstdlib>

namespace cudascan::swo {
namespace {

/// A window with the cells (x, y), relative to its middle, for which `is_on` is true.
template <typename IsOn>
Mask make_polygon(int width, int height, const IsOn &is_on) {
  Mask mask{width, height, false, {}};
  mask.cells.reserve(std::size_t(width) * height);
  for (int row = 0; row < height; ++row)
    for (int column = 0; column < width; ++column)
      mask.cells.push_back(
          is_on(std::abs(column - mask.rx()), std::abs(row - mask.ry())) ? Mask::on : Mask::off);
  mask.rectangle = mask.count() == width * height;
  return mask;
}

}  // namespace

Mask make_octagon(int width, int height) {
  const int n = std::min(width, height);
  int most = 0;
  while (2 * (most + 1) * (most + 1) <= n * n) ++most;
  most += std::abs(width - height) / 2;
  return make_polygon(width, height, [&](int x, int y) { return x + y <= most; });
}

Mask make_hexagon(int width, int height) {
  return make_polygon(width, height,
                      [&](int x, int y) { return 2 * x * height + y * width <= width * height; });
}

}  // namespace cudascan::swo
