// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Images of numbers with plain loops over windows.
#pragma once
#include <algorithm>
#include <vector>

namespace cudascan::test {

/// An image of numbers.
struct Grid {
  int width, height;
  std::vector<int> cells = std::vector<int>(static_cast<std::size_t>(width) * height);

  int &at(int x, int y) { return cells[static_cast<std::size_t>(y) * width + x]; }
  int at(int x, int y) const { return cells[static_cast<std::size_t>(y) * width + x]; }
  /// The nearest cell.
  int near(int x, int y) const {
    return at(std::clamp(x, 0, width - 1), std::clamp(y, 0, height - 1));
  }
  bool has(int x, int y) const { return x >= 0 && y >= 0 && x < width && y < height; }

  template <typename Value>
  static Grid of(int width, int height, const Value &value) {
    Grid grid{width, height};
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) grid.at(x, y) = value(x, y);
    return grid;
  }
  /// The sum of a window whose first cell is this one; the edge is repeated.
  int sum(int x, int y, int side) const {
    int sum = 0;
    for (int j = 0; j < side; ++j)
      for (int i = 0; i < side; ++i) sum += near(x + i, y + j);
    return sum;
  }
  /// The least or the largest cell of windows around each cell.
  Grid extreme(bool largest, int window_width, int window_height) const {
    const int rx = window_width / 2, ry = window_height / 2;
    const auto better = [largest](int a, int b) {
      return largest ? std::max(a, b) : std::min(a, b);
    };
    const Grid rows = of(width, height, [&](int x, int y) {
      int found = at(x, y);
      for (int i = std::max(x - rx, 0); i <= std::min(x + rx, width - 1); ++i)
        found = better(found, at(i, y));
      return found;
    });
    return of(width, height, [&](int x, int y) {
      int found = rows.at(x, y);
      for (int j = std::max(y - ry, 0); j <= std::min(y + ry, height - 1); ++j)
        found = better(found, rows.at(x, j));
      return found;
    });
  }
  Grid eroded(int side) const { return extreme(false, side, side); }
  Grid dilated(int side) const { return extreme(true, side, side); }
};

}  // namespace cudascan::test
