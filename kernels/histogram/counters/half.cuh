// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Counters of 16 bits for 16-bit samples.
#pragma once
#include <cuda_runtime.h>

#include "common/api.h"
#include "kernels/histogram.h"
#include "kernels/histogram/counters/runs.cuh"
#include "kernels/histogram/counters/samples.cuh"

namespace cudascan::histogram {

/// Number of vectors of a table; a vector is 8 counters of 16 bits.
CUDASCAN_HD inline int table_vectors(const Levels &levels) {
  return (levels.count + 7) / 8;
}

/// Up to 65536 levels: one counter of 16 bits each.
class HalfCounters {
 public:
  static constexpr int kThreads = 672;
  // A counter counts up to 65535.
  static constexpr int kTogether = 1, kVectors = 12;
  static_assert(kThreads * kVectors * 8 <= 65535);
  static constexpr int kBytes = 131072, kKept = 0, kCopies = 1;
  static constexpr bool kMany = true, kTable = true;

  __device__ HalfCounters(unsigned char *memory, const Levels &levels)
      : levels_(levels), words_(reinterpret_cast<unsigned *>(memory)) {}

  __device__ void clear() { clear_shared(reinterpret_cast<unsigned char *>(words_), kBytes); }

  template <typename Emit>
  __device__ void add(const VectorSamples (&samples)[kTogether], const Emit &) {
    for_runs(samples[0], levels_,
             [&](int level, unsigned n) { atomicAdd(words_ + level / 2, n << level % 2 * 16); });
  }

  template <typename Emit>
  __device__ void collect(bool last, const Emit &emit) {
    __syncthreads();
    if (last) return;
    for (int i = threadIdx.x; i < (levels_.count + 1) / 2; i += blockDim.x) {
      const unsigned two = words_[i];
      if (two == 0) continue;
      words_[i] = 0;
      if (two & 0xffff) emit(2 * i, two & 0xffff);
      if (two >> 16) emit(2 * i + 1, two >> 16);
    }
    __syncthreads();
  }

 private:
  Levels levels_;
  unsigned *words_;
};

}  // namespace cudascan::histogram
