// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Counters of 16-bit samples in tables of 32-bit counters.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/histogram.h"
#include "kernels/histogram/counters/samples.cuh"

namespace cudascan::histogram {

inline constexpr int kMostTableLevels = 4096;

/// Up to kMostTableLevels levels of 16-bit samples: tables of 32-bit counters that a few warps
/// share.
class TableCounters {
 public:
  static constexpr int kThreads = 672;
  static constexpr int kTogether = 1, kVectors = kUnlimited;
  static constexpr int kBytes = 65536, kKept = 0, kCopies = 4;
  static constexpr bool kMany = false, kTable = false;

  __device__ TableCounters(unsigned char *memory, const Levels &levels)
      : levels_(levels), tables_(reinterpret_cast<unsigned *>(memory)) {
    n_ = min(kBytes / 4 / levels.count, kThreads / 32);
    mine_ = tables_ + threadIdx.x / 32 % n_ * levels.count;
  }

  __device__ void clear() { clear_shared(reinterpret_cast<unsigned char *>(tables_), kBytes); }

  template <typename Emit>
  __device__ void add(const VectorSamples (&samples)[kTogether], const Emit &) {
    for_samples<std::uint16_t>(
        samples[0], [&](unsigned sample) { atomicAdd(mine_ + levels_.level(sample), 1); });
  }

  template <typename Emit>
  __device__ void collect(bool last, const Emit &emit) {
    if (!last) return;
    __syncthreads();
    for (int i = threadIdx.x; i < levels_.count; i += blockDim.x) {
      unsigned sum = 0;
      for (int k = 0; k < n_; ++k) sum += tables_[k * levels_.count + i];
      emit(i, sum);
    }
  }

 private:
  Levels levels_;
  unsigned *tables_, *mine_;
  int n_;
};

}  // namespace cudascan::histogram
