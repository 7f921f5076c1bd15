// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Shared by all sliding-window operators: windows and the border of the image.
#pragma once
#include <cstdint>
#include <vector>

#include "common/api.h"
#include "kernels/swofilter.h"

namespace cudascan::swo {

/// Neighbouring cells of one row of a window, relative to its middle: (first, y) to (last, y).
struct Run {
  std::int8_t first, last, y, unused = 0;
};

/// A window. Rows and columns are counted from 0 at the upper left; the middle is at (rx, ry).
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
  std::vector<Run> runs() const;
  /// The window rotated by 180 degrees, for the second step of openings and closings.
  Mask reflected() const;
  /// Whether for every cell that is on, all cells between it and the middle row and column are on,
  /// too; then clip and replicate give the same extrema.
  bool reaches_inwards() const;
  /// Whether rows and columns are symmetric. Then, together with the property above, reflect also
  /// gives the same extrema, because the reflected samples are already in the window.
  bool is_symmetric() const;

  static Mask make_rectangle(int width, int height);
  /// The ellipse of OpenCV's getStructuringElement(MORPH_ELLIPSE): row y has the middle cell and
  /// round(rx sqrt(ry^2 - (y - ry)^2) / ry) cells on each side, computed in integers. In a window
  /// of one row, all cells are on.
  static Mask make_ellipse(int width, int height);
  static Mask make_cross(int width, int height);
};

/// The task of an operator: checked settings, converted to the units of the format.
struct Job {
  SwoFilterOperator op;
  std::vector<Mask> masks;  ///< one, except for binary operators; empty = the default templates
  SwoFilterBorder border;
  unsigned outside;                ///< sample outside of the image with border = constant
  unsigned maximum;                ///< largest sample of the format
  int shift;                       ///< unused low bits of a sample
  std::int64_t percentile, alpha;  ///< in millionths of the whole
  int iterations;
  SwoFilterThinning thinning;
  SwoFilterMarker marker;
  unsigned height;  ///< as a difference of samples, at most `maximum`
  int connectivity;

  const Mask &mask() const { return masks.front(); }
};

/// Checks everything and makes the job.
/// @param same_depth  whether samples of input and output have the same type
CUDASCAN_API Job make_job(const SwoFilterParams &, unsigned maximum, int in_width, int in_height,
                          int out_width, int out_height, bool same_depth);

/// The column (row) of the image whose sample is used for column (row) i of `n`; -1 if there is
/// none, with clip and constant.
CUDASCAN_HD inline int resolve(int i, int n, SwoFilterBorder border) {
  if (static_cast<unsigned>(i) < static_cast<unsigned>(n)) return i;
  switch (border) {
    case SwoFilterBorder::replicate:
      return i < 0 ? 0 : n - 1;
    case SwoFilterBorder::reflect: {
      int k = i % (2 * n);
      if (k < 0) k += 2 * n;
      return k < n ? k : 2 * n - 1 - k;
    }
    default:
      return -1;
  }
}

}  // namespace cudascan::swo
