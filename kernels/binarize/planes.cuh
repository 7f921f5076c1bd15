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

/// n samples of a row from column x on.
template <int n, typename T>
__device__ void load_clamped(const T *row, int width, int x, unsigned (&samples)[n]) {
  if (x >= 0 && x + n <= width) {
    constexpr int kSamples = Packed<T>::kSamples, kBits = 8 * sizeof(T);
#pragma unroll
    for (int i = 0; i < n / kSamples; ++i) {
      const unsigned word = load_word(row, width, x + i * kSamples, 0u);
#pragma unroll
      for (int k = 0; k < kSamples; ++k)
        samples[i * kSamples + k] = word >> kBits * k & ((1u << kBits) - 1);
    }
#pragma unroll
    for (int i = n / kSamples * kSamples; i < n; ++i) samples[i] = row[x + i];
    return;
  }
#pragma unroll
  for (int i = 0; i < n; ++i) samples[i] = row[min(max(x + i, 0), width - 1)];
}

}  // namespace cudascan::binarize
