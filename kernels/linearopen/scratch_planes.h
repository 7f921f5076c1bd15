// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Planes of integers, and planes in scratch memory.
#pragma once
#include <cstddef>
#include <type_traits>

#include "common/plane.h"
#include "kernels/linearopen/samples.h"

namespace cudascan::linearopen {

/// The samples as integers; floats are given as their bits.
template <typename Sample>
auto bits(Plane<Sample> plane) {
  using T = Ordered<std::remove_const_t<Sample>>;
  using Bits = std::conditional_t<std::is_const_v<Sample>, const T, T>;
  return Plane<Bits>{reinterpret_cast<Bits *>(plane.data), plane.width, plane.height, plane.stride};
}

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
