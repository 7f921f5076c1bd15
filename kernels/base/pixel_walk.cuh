// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Published kernels divide an image without gaps between rows like this: thread t of a
/// one-dimensional grid takes the pixels t, t + n, t + 2n and so on, where n is the number of
/// threads. This walk visits the same pixels in the same order, for any stride and without a
/// division per pixel.
#pragma once
#include "common/plane.h"

namespace cudascan {

/// Calls visit(x, y) for the pixels of this thread.
template <typename Visit>
__device__ void walk_pixels(int width, int height, const Visit &visit) {
  const unsigned columns = static_cast<unsigned>(width), rows = static_cast<unsigned>(height);
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  const unsigned step_x = threads % columns, step_y = threads / columns;
  unsigned x = thread % columns;
  for (unsigned y = thread / columns; y < rows; y += step_y) {
    visit(static_cast<int>(x), static_cast<int>(y));
    x += step_x;
    if (x >= columns) {
      x -= columns;
      ++y;
    }
  }
}

}  // namespace cudascan
