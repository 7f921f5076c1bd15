// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Launches kernels that begin with histogram_kernel.cuh.
#pragma once
#include "kernels/histogram_kernel.cuh"
#include "kernels/launch.cuh"

namespace cudascan::histogram {

/// Launches a kernel with as many blocks as there are multiprocessors; none for an image that has
/// less than a vector for each thread.
template <typename Counters, typename T, typename Job>
void launch_counting(Cuda &cuda, const CountJob<T> &count, void (*kernel)(Job), const Job &job) {
  const std::int64_t pixels = std::int64_t{count.in.plane.width} * count.in.plane.height;
  const auto wanted = static_cast<int>(
      std::min<std::int64_t>(pixels / (Counters::kThreads * 16 / sizeof(T)) + 1, 65535));
  const int blocks = std::min(cuda.multiprocessors(), wanted);
  constexpr int kBytes = Counters::kBytes + Share<T, Counters>::kBytes;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  LaunchShape shape{blocks, Counters::kThreads, kBytes};
  shape.together = true;
  shape.overlap = cuda.code_architecture() >= 90;
  launch(kernel, shape, cuda.stream(), job);
}

/// Launches choose.operator()<Counters>(), a kernel, with the counters that suit the number of levels.
template <typename T, typename Choose, typename Job>
void launch_for_levels(Cuda &cuda, const CountJob<T> &count, const Choose &choose, const Job &job) {
  if constexpr (sizeof(T) == 1) {
    launch_counting<ByteCounters>(cuda, count, choose.template operator()<ByteCounters>(), job);
  } else if (count.levels.count <= kMostTableLevels) {
    launch_counting<TableCounters>(cuda, count, choose.template operator()<TableCounters>(), job);
  } else {
    launch_counting<HalfCounters>(cuda, count, choose.template operator()<HalfCounters>(), job);
  }
}

/// Levels times copies, with the counters that launch_for_levels() chooses.
template <typename T>
int counts_of(const Levels &levels) {
  const int copies = sizeof(T) == 1                     ? ByteCounters::kCopies
                     : levels.count <= kMostTableLevels ? TableCounters::kCopies
                                                        : HalfCounters::kCopies;
  return copies * levels.count;
}

}  // namespace cudascan::histogram
