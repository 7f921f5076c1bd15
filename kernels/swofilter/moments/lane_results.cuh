// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The results of the eight neighbouring pixels of a lane, from the sums over their windows.
#pragma once
#include <cstdint>

#include "kernels/base/packed_samples.cuh"
#include "kernels/base/warp_sums.cuh"
#include "kernels/swofilter/moments/sums.cuh"
#include "kernels/windowsums/rounding.cuh"
#include "kernels/windowsums/row_job.cuh"

namespace cudascan::swo {

using windowsums::kColumns;
using windowsums::StageSamples;

/// Sums from changes along a row, for a warp.
/// @param front  the sum before its first pixel
template <typename E>
__device__ void add_up(const E (&changes)[kColumns], E front, E (&sums)[kColumns]) {
  sums[0] = changes[0];
#pragma unroll
  for (int j = 1; j < kColumns; ++j) sums[j] = sums[j - 1] + changes[j];
  const E all = sums[kColumns - 1], before = front + warp_scan(all) - all;
#pragma unroll
  for (E &sum : sums) sum += before;
}

/// The levels of a lane. Of bytes, only the lowest byte of each counts.
/// @param shift  low bits that the samples have in the sums, but not the levels
/// @param count  count(j) is the number of samples in the window of pixel j, at least 1
template <typename T, bool deviation, typename Count>
__device__ void lane_levels(const std::uint32_t (&sums)[kColumns],
                            const ShapeSquare<T> (&squares)[kColumns], int shift,
                            const Count &count, unsigned (&levels)[kColumns]) {
  // N Q - S^2.
  const auto variance = [&](int j, unsigned n) {
    return n * std::uint64_t{squares[j]} - std::uint64_t{sums[j]} * sums[j];
  };
  if constexpr (deviation && sizeof(T) == 1) {
    bool near = false;
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      const unsigned n = count(j);
      const float inverse = reciprocal_approx(static_cast<float>(n));
      levels[j] = windowsums::ByteDeviation(inverse * inverse, 0)
                      .estimate_float(windowsums::to_float(variance(j, n)), near);
    }
    if (!near) return;
  }
#pragma unroll
  for (int j = 0; j < kColumns; ++j) {
    const unsigned n = count(j);
    if constexpr (deviation)
      levels[j] = windowsums::rounded_deviation(variance(j, n), n << shift);
    else
      levels[j] = windowsums::rounded_mean(sums[j], n << shift);
  }
}

/// Stores the levels of a lane from column x on, as far as they are in the image.
template <typename T>
__device__ void store_levels(const Plane<T> &out, int x, int y, int shift,
                             const unsigned (&levels)[kColumns]) {
  constexpr int kSamples = Packed<T>::kSamples;
  StageSamples<T> samples;
#pragma unroll
  for (int k = 0; k < StageSamples<T>::kWords; ++k) {
    const unsigned *const first = levels + k * kSamples;
    if constexpr (sizeof(T) == 1) {
      const unsigned four[] = {first[0], first[1], first[2], first[3]};
      samples.word[k] = windowsums::low_bytes(four);
    } else {
      samples.word[k] = (first[0] | first[1] << 16) << shift;
    }
  }
  T *const row = out.row(y);
  if (x + kColumns <= out.width &&
      reinterpret_cast<std::uintptr_t>(row + x) % sizeof(samples) == 0) {
    windowsums::store_samples(reinterpret_cast<unsigned char *>(row + x), samples);
    return;
  }
#pragma unroll
  for (int k = 0; k < StageSamples<T>::kWords; ++k)
    store_word(row, out.width, x + k * kSamples, samples.word[k]);
}

}  // namespace cudascan::swo
