// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Replaces kernels/base/texel.cuh, which documents the function; see cuda_runtime.h.
#pragma once
#include <cuda_runtime.h>

namespace cudascan {

template <typename T>
T texel(unsigned long long texture, int x, int y) {
  /// As the textures of user_code.cpp are.
  struct Texture {
    const char *data;
    long long stride;
    int width, height;
  };
  const auto &t = *reinterpret_cast<const Texture *>(texture);
  if (x < 0 || y < 0 || x >= t.width || y >= t.height) emulation::fail("texel outside the image");
  return reinterpret_cast<const T *>(t.data + y * t.stride)[x];
}

}  // namespace cudascan
