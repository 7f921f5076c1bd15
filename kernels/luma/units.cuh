// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Images are read and written in units: the pixels whose luma fills a word. A thread works on
/// several units, a block's width apart, so that neighbouring threads access neighbouring memory.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/base/launch.cuh"
#include "kernels/planes.h"

namespace cudascan::lumas {

/// Pixels of a unit: four of 8 bits or two of 16.
template <typename T>
inline constexpr int kPixels = 4 / static_cast<int>(sizeof(T));

/// Units of a thread.
inline constexpr int kUnits = 2;

inline constexpr dim3 kBlock(32, 8);

/// Words at an address that is aligned to all of them, or to one word if there are three.
template <int n>
__device__ inline void load_words(const void *from, unsigned (&words)[n]) {
  if constexpr (n == 4) {
    const uint4 v = *static_cast<const uint4 *>(from);
    words[0] = v.x, words[1] = v.y, words[2] = v.z, words[3] = v.w;
  } else if constexpr (n == 2) {
    const uint2 v = *static_cast<const uint2 *>(from);
    words[0] = v.x, words[1] = v.y;
  } else {
#pragma unroll
    for (int i = 0; i < n; ++i) words[i] = static_cast<const unsigned *>(from)[i];
  }
}
template <int n>
__device__ inline void store_words(const unsigned (&words)[n], void *to) {
  if constexpr (n == 4) {
    *static_cast<uint4 *>(to) = {words[0], words[1], words[2], words[3]};
  } else if constexpr (n == 2) {
    *static_cast<uint2 *>(to) = {words[0], words[1]};
  } else {
#pragma unroll
    for (int i = 0; i < n; ++i) static_cast<unsigned *>(to)[i] = words[i];
  }
}

/// The alignment in bytes that load_words() needs.
template <int n>
inline constexpr int kAlignment = n == 3 ? 4 : 4 * n;

/// Sample i of words.
template <typename T, int n>
__device__ inline unsigned sample_of(const unsigned (&words)[n], int i) {
  if constexpr (sizeof(T) == 1) return words[i / 4] >> (8 * (i % 4)) & 0xff;
  return words[i / 2] >> (16 * (i % 2)) & 0xffff;
}
/// Adds sample i, which is 0 before.
template <typename T, int n>
__device__ inline void add_sample(unsigned (&words)[n], int i, unsigned sample) {
  if constexpr (sizeof(T) == 1)
    words[i / 4] |= sample << (8 * (i % 4));
  else
    words[i / 2] |= sample << (16 * (i % 2));
}

/// A word with this sample in all places.
template <typename T>
constexpr CUDASCAN_HD unsigned filled_with(T sample) {
  return sizeof(T) == 1 ? sample * 0x01010101U : sample * 0x00010001U;
}

/// The number of this thread's unit i in a row, and its row.
__device__ inline int unit_of_thread(int i) {
  return static_cast<int>((blockIdx.x * kUnits + i) * blockDim.x + threadIdx.x);
}
__device__ inline int row_of_thread() {
  return static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
}

/// Calls whole(unit, x) for this thread's complete units, single(x) for the pixels of others.
template <typename T, typename Whole, typename Single>
__device__ inline void for_units(int width, const Whole &whole, const Single &single) {
#pragma unroll
  for (int i = 0; i < kUnits; ++i) {
    const int x = unit_of_thread(i) * kPixels<T>;
    if (x + kPixels<T> <= width) {
      whole(i, x);
    } else {
      for (int k = x; k < width; ++k) single(k);
    }
  }
}

/// Calls single(x) for the pixels of this thread's units.
template <typename T, typename Single>
__device__ inline void for_pixels(int width, const Single &single) {
  for (int i = 0; i < kUnits; ++i)
    for (int k = 0; k < kPixels<T>; ++k) {
      const int x = unit_of_thread(i) * kPixels<T> + k;
      if (x < width) single(x);
    }
}

/// Threads for so many units in each row.
inline LaunchShape shape_for(Cuda &cuda, int units, int height) {
  LaunchShape shape{{static_cast<unsigned>(divide_up(units, kUnits * static_cast<int>(kBlock.x))),
                     static_cast<unsigned>(divide_up(height, kBlock.y))},
                    kBlock};
  shape.overlap = cuda.code_architecture() >= 90;
  return shape;
}

inline bool is_aligned(const void *data, std::ptrdiff_t stride, int height, int to) {
  return reinterpret_cast<std::uintptr_t>(data) % to == 0 && (height == 1 || stride % to == 0);
}
template <typename T>
bool is_aligned(Plane<T> plane, int to) {
  return is_aligned(plane.data, plane.stride, plane.height, to);
}

}  // namespace cudascan::lumas
