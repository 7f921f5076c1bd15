// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Windows of any shape.
#pragma once
#include <cstdint>
#include <vector>

#include "common/api.h"

namespace cudascan {

/// Neighbouring cells of one row of a window, relative to its middle: (first, y) to (last, y).
struct MaskRun {
  std::int8_t first, last, y, unused = 0;
};

/// A window. Rows and columns are counted from 0 at the upper left, the middle is at (rx, ry).
struct CUDASCAN_API Mask {
  enum Cell : signed char { any = -1, off = 0, on = 1 };

  int width = 0, height = 0;  ///< odd, 1..255
  bool rectangle = false;     ///< whether all cells are on
  std::vector<Cell> cells;    ///< row by row

  int rx() const { return width / 2; }
  int ry() const { return height / 2; }
  Cell at(int column, int row) const { return cells[row * width + column]; }
  /// Number of cells that are on.
  int count() const;
  /// The cells that are on, from the upper left to the lower right. At most 496: a mask given as
  /// text has up to 31 rows of 16 runs, the others have one run in each row.
  std::vector<MaskRun> runs() const;
  /// The window turned by 180 degrees, with which what an erosion takes is brought back.
  Mask reflected() const;
  /// Rows and columns exchanged.
  Mask transposed() const;
  /// Whether with every cell those between it and the middle row, and the middle column, are on as
  /// well; then clip and replicate give the same extrema.
  bool reaches_inwards() const;
  /// Whether rows and columns are the same from both ends; then reflect does so, too, with a window
  /// that reaches inwards: what it brings back into the image lies in the window.
  bool is_symmetric() const;
  /// Whether the cells that are on are those of the middle row and the middle column.
  bool is_cross() const;

  bool operator==(const Mask &) const = default;

  static Mask make_rectangle(int width, int height);
  /// That of OpenCV's getStructuringElement(MORPH_ELLIPSE): row y has the middle cell and
  /// round(rx sqrt(ry^2 - (y - ry)^2) / ry) cells on both of its sides, decided in integers. All
  /// cells of a window of one row.
  static Mask make_ellipse(int width, int height);
  static Mask make_cross(int width, int height);
};

}  // namespace cudascan
