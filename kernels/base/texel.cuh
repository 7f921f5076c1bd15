// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Reading images through texture memory. The emulated GPU of the tests has its own form.
#pragma once
#include <cuda_runtime.h>

namespace cudascan {

/// The sample at a column and a row.
/// @param texture  of gswo::Textures
template <typename T>
__device__ T texel(unsigned long long texture, int x, int y) {
  return tex2D<T>(texture, static_cast<float>(x), static_cast<float>(y));
}

}  // namespace cudascan
