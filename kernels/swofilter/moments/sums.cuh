// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Means and standard deviations of windows that are not rectangles. From one pixel of a row to the
/// next, the sum over a window changes by the samples that enter at the right ends of its runs and
/// those that leave at their left ends. One kernel adds up these edges, another one the changes
/// along the rows. Outside the image and its border there are zeros, so each row begins with an
/// empty window.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "kernels/exec.h"
#include "kernels/swofilter/cells.cuh"
#include "kernels/swofilter/shapes/tile.cuh"

namespace cudascan::swo {

/// A sum of squares, and a change of one modulo 2^32 or 2^64.
template <typename T>
using ShapeSquare = std::conditional_t<sizeof(T) == 1, std::uint32_t, std::uint64_t>;

/// Changes of sums, row by row.
template <typename E>
struct EdgePlane {
  E *data;
  int stride;  ///< in elements, a multiple of 32
  int start;   ///< column 0 of the image

  __device__ E *row(int y) const { return data + static_cast<std::ptrdiff_t>(y) * stride; }
};

template <typename T>
struct ShapeMomentJob {
  Source<T> in;
  Plane<T> out;
  int shift;
  EdgePlane<std::uint32_t> sums;
  EdgePlane<ShapeSquare<T>> squares;  // only used for deviations
  WindowCells cells;
};

/// Queues adding up edges of the window's samples, and of their squares for a deviation.
template <typename T>
void queue_edges(Cuda &, const FilterJob &, const ShapeMomentJob<T> &);
/// Queues the results from edges.
template <typename T>
void queue_edge_sums(Cuda &, const ShapeMomentJob<T> &, bool deviation);

}  // namespace cudascan::swo
