// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The four lines of a directional median: 0 = the row, 1 = the column, 2 = the diagonal that falls
/// to the right, 3 = the one that rises. Samples are in the order of columns in a row, otherwise of
/// rows.
#pragma once
#include "kernels/swofilter/cells.cuh"

namespace cudascan::swo {

constexpr int kLines = 4;

/// Samples on each side of the pixel.
struct LineReach {
  int row, column, diagonal;

  __device__ int of(int line) const { return line == 0 ? row : line == 1 ? column : diagonal; }
};

/// Columns from a sample of a line to the next one; not for rows.
__device__ inline int line_step(int line) {
  return line == 1 ? 0 : line == 2 ? 1 : -1;
}

/// The samples that exist on the two sides of a pixel of the image.
struct LineSides {
  int before, after;

  LineSides() = default;
  template <typename T>
  __device__ LineSides(const Source<T> &in, const LineReach &reach, int line, int x, int y)
      : before(reach.of(line)), after(before) {
    if (in.border != SwoFilterBorder::clip) return;
    const int right = in.plane.width - 1 - x;
    if (line != 0) {
      before = min(before, y);
      after = min(after, in.plane.height - 1 - y);
    }
    if (line != 1) {
      before = min(before, line == 3 ? right : x);
      after = min(after, line == 3 ? x : right);
    }
  }
};

/// The sample at (x, y), inside or outside; 0 if there is none.
template <typename T>
__device__ unsigned sample_or_zero(const Source<T> &in, int x, int y) {
  unsigned sample = 0;
  in.visit(x, y, [&](unsigned v) { sample = v; });
  return sample;
}

}  // namespace cudascan::swo
