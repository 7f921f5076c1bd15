// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The number of pixels in a window, in the forms that decisions need.
#pragma once
#include <cuda_runtime.h>

#include "kernels/base/ptx.cuh"

namespace cudascan::windowsums {

/// N pixels, or a number of rows or columns; the product of two sizes is a size.
struct WindowSize {
  unsigned n;
  float nf, inverse, inverse_square;
  float scaled;         // N times the scale of the samples
  float weighted_root;  // sqrt(N) times the decision's weight

  WindowSize() = default;
  __device__ WindowSize(unsigned n, float weight, float scale)
      : n(n),
        nf(n),
        inverse(reciprocal_approx(nf)),
        inverse_square(inverse * inverse),
        scaled(nf * scale),
        weighted_root(weight * sqrt_approx(nf)) {}
  /// The size of `a` rows of `b` columns each.
  __device__ WindowSize(const WindowSize &a, const WindowSize &b)
      : n(a.n * b.n),
        nf(a.nf * b.nf),
        inverse(a.inverse * b.inverse),
        inverse_square(a.inverse_square * b.inverse_square),
        scaled(a.scaled * b.scaled),
        weighted_root(a.weighted_root * b.weighted_root) {}
};

/// The sizes of the windows of a block's columns, in shared memory. Each member has its own array,
/// so that a lane reads the values of neighbouring columns at once.
template <int n>
struct WindowSizes {
  alignas(16) unsigned count[n];
  alignas(16) float inverse[n], inverse_square[n], scaled[n], root[n];

  __device__ void set(int i, const WindowSize &size) {
    count[i] = size.n;
    inverse[i] = size.inverse;
    inverse_square[i] = size.inverse_square;
    scaled[i] = size.scaled;
    root[i] = size.weighted_root;
  }
  __device__ WindowSize operator[](int i) const {
    WindowSize size;
    size.n = count[i];
    size.nf = static_cast<float>(size.n);
    size.inverse = inverse[i];
    size.inverse_square = inverse_square[i];
    size.scaled = scaled[i];
    size.weighted_root = root[i];
    return size;
  }
};

}  // namespace cudascan::windowsums
