// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Samples of a row, repeating its ends.
#pragma once
#include "kernels/base/packed_samples.cuh"
#include "kernels/binarize/windows.cuh"

namespace cudascan::binarize {

/// Planes of the image's size in scratch memory have so many samples before and after each row,
/// which repeat the first and the last one.
inline constexpr int kPad = 32;

/// Four samples of a row, in words.
template <typename T>
struct FourSamples {
  static constexpr int kSamples = Packed<T>::kSamples, kWords = 4 / kSamples;
  unsigned words[kWords];
};

/// Reads four samples from column x on, a multiple of 4, of neighbouring rows, repeating the edges
/// of the plane.
template <int rows, typename T>
__device__ void load_rows(const Plane<const T> &in, int x, int y, FourSamples<T> (&samples)[rows]) {
  constexpr int kSamples = Packed<T>::kSamples, kWords = 4 / kSamples, kBits = 8 * sizeof(T);
  const auto place =
      reinterpret_cast<std::uintptr_t>(in.data) | static_cast<std::uintptr_t>(in.stride);
  if (place % 4 == 0 && x >= 0 && x + 4 <= in.width && y >= 0 && y + rows <= in.height) {
    auto row = reinterpret_cast<const unsigned char *>(in.row(y) + x);
#pragma unroll
    for (int r = 0; r < rows; ++r, row += in.stride)
#pragma unroll
      for (int i = 0; i < kWords; ++i)
        samples[r].words[i] = reinterpret_cast<const unsigned *>(row)[i];
    return;
  }
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const T *const row = in.row(min(max(y + r, 0), in.height - 1));
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      unsigned word = 0;
#pragma unroll
      for (int k = 0; k < kSamples; ++k)
        word |= unsigned{row[min(max(x + i * kSamples + k, 0), in.width - 1)]} << kBits * k;
      samples[r].words[i] = word;
    }
  }
}

}  // namespace cudascan::binarize
