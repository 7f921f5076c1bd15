// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Counters of 16-bit samples in device memory.
#pragma once
#include <cuda_runtime.h>

#include "kernels/histogram.h"
#include "kernels/histogram/counters/half.cuh"
#include "kernels/histogram/counters/runs.cuh"
#include "kernels/histogram/counters/samples.cuh"

namespace cudascan::histogram {

/// Up to 65536 levels, for GPUs with less shared memory: counts in device memory directly. The
/// shared memory is used by the steps after counting.
class DirectCounters {
 public:
  static constexpr int kThreads = 512;
  static constexpr int kTogether = 1, kVectors = kUnlimited;
  static constexpr int kBytes = 49152, kKept = 0, kCopies = HalfCounters::kCopies;
  static constexpr bool kMany = true, kTable = false;

  __device__ DirectCounters(unsigned char *, const Levels &levels) : levels_(levels) {}

  __device__ void clear() {}

  template <typename Emit>
  __device__ void add(const VectorSamples (&samples)[kTogether], const Emit &emit) {
    for_runs(samples[0], levels_, emit);
  }
  template <typename Emit>
  __device__ void collect(bool, const Emit &) {}

 private:
  Levels levels_;
};

}  // namespace cudascan::histogram
