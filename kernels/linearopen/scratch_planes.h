// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Planes in scratch memory.
#pragma once
#include <cstddef>

#include "common/plane.h"

namespace cudascan::linearopen {

/// Bytes from row to row: rows begin at multiples of 256.
template <typename T>
std::size_t stride_of(int width) {
  return (width * sizeof(T) + 255) / 256 * 256;
}
template <typename T>
std::size_t plane_bytes(int width, int height) {
  return stride_of<T>(width) * height;
}
/// @param memory  plane_bytes()
template <typename T>
Plane<T> plane_at(unsigned char *memory, int width, int height) {
  return {reinterpret_cast<T *>(memory), width, height,
          static_cast<std::ptrdiff_t>(stride_of<T>(width))};
}

}  // namespace cudascan::linearopen
