// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Planes that are read word by word, along their columns.
#pragma once
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "common/plane.h"
#include "kernels/base/packed_samples.cuh"
#include "kernels/swofilter/extrema/windows.cuh"

namespace cudascan::swo::extremes {

/// A plane that is read word by word.
template <typename T>
struct WordPlane {
  Plane<const T> plane;
  bool aligned, quads_aligned;  // words, and four of them, begin at multiples of their size

  explicit WordPlane(const Plane<const T> &plane)
      : plane(plane), aligned(is_aligned(4)), quads_aligned(is_aligned(16)) {}

 private:
  bool is_aligned(unsigned bytes) const {
    return (reinterpret_cast<std::uintptr_t>(plane.data) | plane.stride) % bytes == 0;
  }
};

/// Words of a column, from row y on. A row outside the plane is the same as the nearest row inside.
/// @tparam whole  all rows are inside
template <typename T, bool whole>
struct WordColumn {
  const unsigned char *top;
  std::ptrdiff_t stride;
  int y, height;

  __device__ WordColumn(const Plane<const T> &plane, int x, int y)
      : top(reinterpret_cast<const unsigned char *>(whole ? plane.row(y) + x : plane.data + x)),
        stride(plane.stride),
        y(y),
        height(plane.height) {}

  template <int>
  __device__ Packed<T> at(int i) const {
    const int row = whole ? i : min(max(y + i, 0), height - 1);
    return spread<T>(*reinterpret_cast<const unsigned *>(top + row * stride));
  }
};

/// load_word(), kept apart from the other code, so that less code is loaded while the kernel runs.
template <typename T>
__device__ __noinline__ unsigned load_any_word(const T *row, int width, int x, unsigned outside) {
  return load_word(row, width, x, outside);
}

/// Like WordColumn, for words that are not aligned, or not completely inside the plane.
template <typename T>
struct CutWordColumn {
  const Plane<const T> &plane;
  int x, y;
  unsigned neutral;

  template <int>
  __device__ Packed<T> at(int i) const {
    const int row = min(max(y + i, 0), plane.height - 1);
    return spread<T>(load_any_word(plane.row(row), plane.width, x, neutral));
  }
};

/// Extrema of windows of a column of words; the first window begins in row y.
template <int most, typename Op, typename T>
__device__ void slide_down(const WordPlane<T> &in, int side, int x, int y,
                           Packed<T> (&column)[kWindows]) {
  constexpr int kSamples = Packed<T>::kSamples;
  const int width = in.plane.width, height = in.plane.height;
  if (x + kSamples <= 0 || x >= width) {
#pragma unroll
    for (Packed<T> &p : column) p = neutral<Op, T>();
  } else if (!in.aligned || x < 0 || x + kSamples > width) {
    slide<most, Op>(side, CutWordColumn<T>{in.plane, x, y, Op::template neutral<T>().word()},
                    column);
  } else if (y >= 0 && y + kWindows - 1 + side <= height) {
    slide<most, Op>(side, WordColumn<T, true>(in.plane, x, y), column);
  } else {
    slide<most, Op>(side, WordColumn<T, false>(in.plane, x, y), column);
  }
}

}  // namespace cudascan::swo::extremes
