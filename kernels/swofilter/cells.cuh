// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Windows of any shape on the GPU, sample by sample, and the image with its border.
#pragma once
#include <cuda_runtime.h>

#include "kernels/swofilter/window.h"

namespace cudascan::swo {

/// A window as a parameter of kernels.
struct WindowCells {
  static constexpr int kMostRuns = 496;

  int rx, ry, count, n_runs;
  Run runs[kMostRuns];

  explicit WindowCells(const Mask &mask)
      : rx(mask.rx()), ry(mask.ry()), count(mask.count()), n_runs(0), runs{} {
    for (const Run &run : mask.runs()) runs[n_runs++] = run;
  }
};

/// An image and the samples outside.
template <typename T>
struct Source {
  Plane<const T> plane;
  SwoFilterBorder border;
  unsigned outside;  ///< with border = constant

  Source(Plane<const T> plane, const FilterJob &job)
      : plane(plane), border(job.border), outside(job.outside) {}

  /// Whether windows of this radius around (x, y) are inside the image.
  __device__ bool holds(int x, int y, int rx, int ry) const {
    return x >= rx && x + rx < plane.width && y >= ry && y + ry < plane.height;
  }
  /// Calls visit(sample) for the sample at (x, y), inside or outside, unless there is none.
  template <typename Visit>
  __device__ void visit(int x, int y, const Visit &visit) const {
    x = resolve(x, plane.width, border);
    y = resolve(y, plane.height, border);
    if (x >= 0 && y >= 0)
      visit(static_cast<unsigned>(plane.row(y)[x]));
    else if (border == SwoFilterBorder::constant)
      visit(outside);
  }
  /// Calls visit(sample) for the samples of the window on (x, y).
  template <typename Visit>
  __device__ void visit_window(int x, int y, const WindowCells &cells, const Visit &visit) const {
    if (holds(x, y, cells.rx, cells.ry)) {
      for (int i = 0; i < cells.n_runs; ++i) {
        const Run run = cells.runs[i];
        const T *const row = plane.row(y + run.y) + x;
        for (int dx = run.first; dx <= run.last; ++dx) visit(static_cast<unsigned>(row[dx]));
      }
    } else {
      for (int i = 0; i < cells.n_runs; ++i) {
        const Run run = cells.runs[i];
        for (int dx = run.first; dx <= run.last; ++dx) this->visit(x + dx, y + run.y, visit);
      }
    }
  }
  /// The number of samples of the window on (x, y).
  __device__ int count(int x, int y, const WindowCells &cells) const {
    if (border != SwoFilterBorder::clip || holds(x, y, cells.rx, cells.ry)) return cells.count;
    int n = 0;
    for (int i = 0; i < cells.n_runs; ++i) {
      const Run run = cells.runs[i];
      if (y + run.y < 0 || y + run.y >= plane.height) continue;
      n += max(min(x + run.last, plane.width - 1) - max(x + run.first, 0) + 1, 0);
    }
    return n;
  }
};

}  // namespace cudascan::swo
