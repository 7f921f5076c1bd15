// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Launches kernels that begin with kernel.cuh.
#pragma once
#include "kernels/base/launch.cuh"
#include "kernels/histogram/counters/byte.cuh"
#include "kernels/histogram/counters/direct.cuh"
#include "kernels/histogram/counters/half.cuh"
#include "kernels/histogram/counters/matrix.cuh"
#include "kernels/histogram/counters/table.cuh"
#include "kernels/histogram/kernel.cuh"

namespace cudascan::histogram {

/// As many blocks as there are multiprocessors. Fewer for an image with less than one vector for
/// each thread, but not fewer than `least` if there are as many multiprocessors.
template <typename Counters, typename T>
int blocks_for(Cuda &cuda, const Plane<const T> &plane, int least = 1) {
  const std::int64_t pixels = std::int64_t{plane.width} * plane.height;
  const std::int64_t wanted = pixels / (Counters::kThreads * PlaneVectors<const T>::kSamples) + 1;
  return static_cast<int>(
      std::min<std::int64_t>(cuda.multiprocessors(), std::max<std::int64_t>(wanted, least)));
}

/// Launches blocks that wait for one another, each with `bytes` of dynamic shared memory.
template <typename Counters, typename Job>
void launch_together(Cuda &cuda, void (*kernel)(Job), int blocks, int bytes, const Job &job) {
  LaunchShape shape{blocks, Counters::kThreads, bytes};
  shape.together = true;
  shape.overlap = cuda.code_architecture() >= 90;
  launch(cuda, kernel, shape, job);
}

/// Calls f.operator()<Counters>() with the best counters of 8-bit samples that fit on the GPU.
template <typename F>
void with_byte_counters(Cuda &cuda, const F &f) {
  const auto fit = [&]<typename Counters>() {
    return cuda.code_architecture() >= 80 &&
           cuda.most_shared_memory() >=
               Counters::kBytes + BlockShare<std::uint8_t, Counters>::kBytes;
  };
  // First with space for a frame of 5120x2880 on 132 multiprocessors; then for 99 KiB, which many
  // GPUs have.
  using Roomy = MatrixCounters<22>;
  using Small = MatrixCounters<6>;
  if (fit.template operator()<Roomy>())
    f.template operator()<Roomy>();
  else if (fit.template operator()<Small>())
    f.template operator()<Small>();
  else
    f.template operator()<ByteCounters>();
}

/// The same, with counters that also suit the number of levels.
template <typename T, typename F>
void with_counters(Cuda &cuda, const Levels &levels, const F &f) {
  if constexpr (sizeof(T) == 1)
    with_byte_counters(cuda, f);
  else if (levels.count <= kMostTableLevels)
    f.template operator()<TableCounters>();
  else if (cuda.most_shared_memory() >= HalfCounters::kBytes)
    f.template operator()<HalfCounters>();
  else
    f.template operator()<DirectCounters>();
}

/// Launches choose.operator()<Counters>(), a kernel, with counters that suit the image and the GPU.
/// @param least  number of blocks that are needed even if the image is small
template <typename T, typename Choose, typename Job>
void launch_counting(Cuda &cuda, const CountJob<T> &count, const Choose &choose, const Job &job,
                     int least = 1) {
  with_counters<T>(cuda, count.levels, [&]<typename Counters>() {
    const int blocks = blocks_for<Counters>(cuda, count.in.plane, least);
    constexpr int kBytes = Counters::kBytes + BlockShare<T, Counters>::kBytes;
    launch_together<Counters>(cuda, choose.template operator()<Counters>(), blocks, kBytes, job);
  });
}

/// Bytes of the State of a CountJob, with the counters that with_counters() chooses.
template <typename T>
std::size_t state_bytes(Cuda &cuda, const Levels &levels) {
  std::size_t bytes = 0;
  with_counters<T>(cuda, levels, [&]<typename Counters>() {
    const int tables = Counters::kTable ? cuda.multiprocessors() : 0;
    bytes = State::bytes(Counters::kCopies * levels.count,
                         static_cast<std::size_t>(tables) * table_vectors(levels));
  });
  return bytes;
}

}  // namespace cudascan::histogram
