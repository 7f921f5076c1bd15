// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Planes as vectors of 16 bytes, and single samples.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "common/plane.h"

namespace cudascan::histogram {

/// Where a vector of samples lies in its plane, or one sample.
struct VectorPlace {
  int x, y;
  bool one;
};

/// A plane as vectors of 16 bytes, row by row, and single samples. Single are the remaining samples
/// at the end of each row, or all samples if vectors cannot be loaded and stored.
template <typename T>
struct PlaneVectors {
  static constexpr int kSamples = 16 / sizeof(T);
  static constexpr int kMagicBits = 40;

  Plane<T> plane;
  unsigned per_row, count;
  std::uint64_t magic;  ///< 2^kMagicBits / per_row, rounded up

  PlaneVectors() = default;
  PlaneVectors(Plane<T> p, bool aligned)
      : plane(p), per_row(aligned ? p.width / kSamples : 0), count(per_row * p.height) {
    if (per_row > 0) magic = ((std::uint64_t{1} << kMagicBits) + per_row - 1) / per_row;
  }

  /// The samples from this column on are single.
  __device__ int rest() const { return static_cast<int>(per_row) * kSamples; }
  __device__ VectorPlace place(unsigned i) const {
    // The error of the magic number is below per_row <= 2^12 and i < 2^27: the quotient is exact.
    const auto y = static_cast<unsigned>(i * magic >> kMagicBits);
    return {static_cast<int>(i - y * per_row) * kSamples, static_cast<int>(y), false};
  }
  /// Calls f(place) for n vectors from number i on, each `step` after the one before.
  template <typename F>
  __device__ void walk(unsigned i, unsigned step, int n, const F &f) const {
    // Additions cost less than place().
    const VectorPlace by = place(step);
    VectorPlace p = place(i);
#pragma unroll 2
    for (int j = 0; j < n; ++j) {
      f(p, j);
      p.x += by.x;
      p.y += by.y;
      if (p.x >= rest()) {
        p.x -= rest();
        ++p.y;
      }
    }
  }
  __device__ const uint4 *address(const VectorPlace &p) const {
    return reinterpret_cast<const uint4 *>(plane.row(p.y) + p.x);
  }
};

/// Whether a plane's rows begin at multiples of a number of bytes.
template <typename T>
bool is_aligned(const Plane<T> &p, unsigned bytes) {
  return (reinterpret_cast<std::uintptr_t>(p.data) | p.stride) % bytes == 0;
}

/// Stores a vector, or its first sample.
template <typename T>
__device__ void store(const Plane<T> &plane, const VectorPlace &p, const uint4 &v) {
  T *const to = plane.row(p.y) + p.x;
  if (p.one)
    *to = static_cast<T>(v.x);
  else
    *reinterpret_cast<uint4 *>(to) = v;
}

/// The same with samples of half the size.
inline __device__ void store_half(const Plane<std::uint8_t> &plane, const VectorPlace &p,
                                  const uint2 &v) {
  std::uint8_t *const to = plane.row(p.y) + p.x;
  if (p.one)
    *to = static_cast<std::uint8_t>(v.x);
  else
    *reinterpret_cast<uint2 *>(to) = v;
}

}  // namespace cudascan::histogram
