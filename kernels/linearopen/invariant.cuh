// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Minima and maxima over the same segment at each pixel, computed pixel by pixel.
#pragma once
#include <cuda_runtime.h>

#include "kernels/base/packed_samples.cuh"
#include "kernels/linearopen/digital_lines.h"
#include "kernels/linearopen/samples.h"

namespace cudascan::linearopen {

constexpr int kInvariantThreads = 128;

template <typename T>
struct InvariantJob {
  Plane<const T> in;
  bool floats;
  unsigned flip;
  Plane<T> out;  ///< rows begin at whole words
  lines::Direction direction;
  int length;
};
/// Extrema over the segment around each pixel; for maxima, the segment is rotated by 180 degrees.
template <typename T, typename Op>
__global__ void invariant_kernel(const __grid_constant__ InvariantJob<T> job) {
  constexpr bool kLargest = Op::kLargest;
  const int x =
      static_cast<int>(blockIdx.x * kInvariantThreads + threadIdx.x) * Packed<T>::kSamples;
  if (x >= job.in.width) return;
  const int y = blockIdx.y, before = job.length / 2, behind = (job.length - 1) / 2;
  const int begin = max(kLargest ? -behind : -before, -y);
  const int end = min(kLargest ? before : behind, job.in.height - 1 - y);
  const unsigned outside = kLargest ? 0 : ~job.flip;
  auto result = Op::template neutral<T>();
#pragma unroll 4
  for (int t = begin; t <= end; ++t) {
    const int column = x + job.direction.shift(t);
    unsigned word = load_word(job.in.row(y + t), job.in.width, column, outside);
    if constexpr (sizeof(T) == 4)
      if (job.floats && column >= 0 && column < job.in.width) word = ordered_of_bits(word);
    result = Op()(result, Packed<T>::of(word ^ job.flip));
  }
  store_word(job.out.row(y), job.out.width, x, result.word());
}

}  // namespace cudascan::linearopen
