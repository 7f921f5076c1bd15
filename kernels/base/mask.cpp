// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/base/mask.h"

#include <algorithm>

namespace cudascan {

int Mask::count() const {
  return static_cast<int>(std::count(cells.begin(), cells.end(), on));
}

std::vector<MaskRun> Mask::runs() const {
  std::vector<MaskRun> runs;
  for (int row = 0; row < height; ++row)
    for (int column = 0; column < width;) {
      const int first = column;
      while (column < width && at(column, row) == on) ++column;
      if (column > first)
        runs.push_back({static_cast<std::int8_t>(first - rx()),
                        static_cast<std::int8_t>(column - 1 - rx()),
                        static_cast<std::int8_t>(row - ry())});
      else
        ++column;
    }
  return runs;
}

Mask Mask::transposed() const {
  Mask mask{height, width, rectangle, {}};
  mask.cells.reserve(cells.size());
  for (int x = 0; x < width; ++x)
    for (int y = 0; y < height; ++y) mask.cells.push_back(at(x, y));
  return mask;
}

Mask Mask::reflected() const {
  Mask mask = *this;
  std::reverse(mask.cells.begin(), mask.cells.end());
  return mask;
}

bool Mask::reaches_inwards() const {
  for (int row = 0; row < height; ++row)
    for (int column = 0; column < width; ++column) {
      if (at(column, row) != on) continue;
      const int nearer_column = column - (column > rx()) + (column < rx());
      const int nearer_row = row - (row > ry()) + (row < ry());
      if (at(nearer_column, row) != on || at(column, nearer_row) != on) return false;
    }
  return true;
}

bool Mask::is_symmetric() const {
  for (int row = 0; row < height; ++row)
    for (int column = 0; column < width; ++column)
      if (at(column, row) != at(width - 1 - column, row) ||
          at(column, row) != at(column, height - 1 - row))
        return false;
  return true;
}

bool Mask::is_cross() const {
  return !rectangle && cells == make_cross(width, height).cells;
}

Mask Mask::make_rectangle(int width, int height) {
  return {width, height, true, std::vector<Cell>(std::size_t(width) * height, on)};
}

Mask Mask::make_ellipse(int width, int height) {
  if (height == 1) return make_rectangle(width, 1);
  Mask mask{width, height, false, std::vector<Cell>(std::size_t(width) * height, off)};
  const int a = mask.rx(), b = mask.ry();
  for (int row = 0; row < height; ++row) {
    const int y = row - b;
    int reach = 0;  // the largest x with x - 1/2 <= a sqrt(b^2 - y^2) / b
    while (reach < a && (2 * reach + 1) * (2 * reach + 1) * b * b <= 4 * a * a * (b * b - y * y))
      ++reach;
    for (int x = -reach; x <= reach; ++x) mask.cells[row * width + a + x] = on;
  }
  mask.rectangle = mask.count() == width * height;
  return mask;
}

Mask Mask::make_cross(int width, int height) {
  Mask mask{width, height, width == 1 || height == 1, {}};
  for (int row = 0; row < height; ++row)
    for (int column = 0; column < width; ++column)
      mask.cells.push_back(row == height / 2 || column == width / 2 ? on : off);
  return mask;
}

}  // namespace cudascan
