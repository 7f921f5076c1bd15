// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Means and standard deviations of windows that are not rectangles. From one pixel of a row to the
/// next, the sum over a window changes by the samples that enter at the right ends of its runs and
/// those that leave at their left ends. One kernel adds up these edges, another one the changes
/// along the rows. Outside the image and its border there are zeros, so each row begins with an
/// empty window. Crosses have a kernel of their own.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "kernels/exec.h"
#include "kernels/swofilter/cells.cuh"
#include "kernels/swofilter/moments/rows.h"
#include "kernels/swofilter/shapes/tile.cuh"

namespace cudascan::swo {

/// A sum of squares, and a change of one modulo 2^32 or 2^64.
template <typename T>
using ShapeSquare = std::conditional_t<sizeof(T) == 1, std::uint32_t, std::uint64_t>;

/// Changes of sums, row by row. Those of four threads of ShapeTile alternate, 16 bytes of each, so
/// that they write whole sectors of memory.
template <typename T, typename E>
struct SumPlane {
  E *data;
  int stride;  ///< in elements, a multiple of 128
  int start;   ///< column 0 of the image, a multiple of 128

  /// Number i of the 16-byte pieces from an element on, all of the same thread.
  /// @param at  a multiple of the elements of a piece, from the beginning of the row on
  __device__ E *quad(int y, unsigned at, int i) const {
    constexpr unsigned kElements = 16 / sizeof(E), kPixels = ShapePlan::kThreadBytes / sizeof(T);
    const unsigned thread = at / kPixels, first = at % kPixels / kElements;
    const unsigned quad = thread / 4 * (4 * kPixels / kElements) + 4 * first + thread % 4;
    return data + static_cast<std::ptrdiff_t>(y) * stride + quad * kElements + 4 * i * kElements;
  }
};

/// Neighbouring sums that are read or written at once, at a multiple of 16 bytes.
template <typename E>
struct SumQuad {
  static constexpr int kElements = 16 / sizeof(E);
  E v[kElements];

  SumQuad() = default;
  __device__ explicit SumQuad(const E *from) {
    const uint4 quad = *reinterpret_cast<const uint4 *>(from);
    if constexpr (sizeof(E) == 4) {
      v[0] = quad.x, v[1] = quad.y, v[2] = quad.z, v[3] = quad.w;
    } else {
      v[0] = std::uint64_t{quad.y} << 32 | quad.x;
      v[1] = std::uint64_t{quad.w} << 32 | quad.z;
    }
  }
  __device__ void store(E *to) const {
    uint4 quad;
    if constexpr (sizeof(E) == 4)
      quad = {v[0], v[1], v[2], v[3]};
    else
      quad = {static_cast<unsigned>(v[0]), static_cast<unsigned>(v[0] >> 32),
              static_cast<unsigned>(v[1]), static_cast<unsigned>(v[1] >> 32)};
    *reinterpret_cast<uint4 *>(to) = quad;
  }
  __device__ SumQuad &operator+=(const SumQuad &other) {
#pragma unroll
    for (int i = 0; i < kElements; ++i) v[i] += other.v[i];
    return *this;
  }
};

template <typename T>
struct ShapeMomentJob {
  ShapeSource<T> in;
  Plane<T> out;
  int shift;  // unused low bits of samples
  SumPlane<T, std::uint32_t> sums;
  SumPlane<T, ShapeSquare<T>> squares;  // for a deviation
  WindowCells cells;
};

/// Queues adding up edges of the window's samples, and of their squares for a deviation.
template <typename T>
void queue_edges(Cuda &, const FilterJob &, const ShapeMomentJob<T> &);
/// Queues the results from edges.
template <typename T>
void queue_results(Cuda &, const FilterJob &, const ShapeMomentJob<T> &);
/// Queues the sums themselves from edges, as window_sums() gives them.
template <typename T>
void queue_sums(Cuda &, const ShapeMomentJob<T> &, Plane<std::uint32_t> sums,
                Plane<sums::Square<T>> squares);

/// Queues the whole task for a window that is a cross.
template <typename T>
void queue_cross(Cuda &, const FilterJob &, const ShapeSource<T> &, Plane<T> out);

}  // namespace cudascan::swo
