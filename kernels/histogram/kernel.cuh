// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Several operators begin with a histogram. This kernel computes it in the same launch in which
/// they use it. All blocks run at the same time. Each block counts its share of the image, adds the
/// counts to the histogram in device memory and waits for all other blocks. Then each block
/// computes the operator's decision from the histogram and applies it to its share. As far as they
/// fit, the samples are still in its shared memory then.
///
/// A State is kept from launch to launch. It has three histograms, which are used in turn: that of
/// this launch, that of the launch before, and that of the next launch, which this launch sets to
/// zero.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/base/grid_barrier.cuh"
#include "kernels/base/ptx.cuh"
#include "kernels/histogram/counters/half.cuh"
#include "kernels/histogram/share.cuh"

namespace cudascan::histogram {

/// Adds up the tables of all blocks; each block adds up some levels.
/// @param tables  of the blocks, one after the other
/// @param emit    called as emit(level, n), once for each level
/// @param memory  32 bytes for each thread
template <int kThreads, typename Emit>
__device__ void sum_up_tables(const uint4 *tables, const Levels &levels, unsigned char *memory,
                              const Emit &emit) {
  // The threads are divided into parts. Each part adds up some tables, for this number of
  // neighbouring vectors.
  constexpr unsigned kWidth = 32, kParts = kThreads / kWidth;
  auto *const sums = reinterpret_cast<unsigned *>(memory);
  const unsigned all = table_vectors(levels), column = threadIdx.x % kWidth;
  const unsigned part = threadIdx.x / kWidth;
  for (unsigned first = blockIdx.x * kWidth; first < all; first += gridDim.x * kWidth) {
    unsigned mine[8]{};
    if (first + column < all) {
      const uint4 *from = tables + first + column;
#pragma unroll 4
      for (unsigned i = part; i < gridDim.x; i += kParts) {
        const uint4 v = from[static_cast<std::size_t>(i) * all];
        const unsigned words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int k = 0; k < 8; ++k) mine[k] += words[k / 2] >> k % 2 * 16 & 0xffff;
      }
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; ++k) sums[(part * 8 + k) * kWidth + column] = mine[k];
    __syncthreads();
    // Level 8 c + k of the vectors is in row k, column c.
    for (unsigned i = threadIdx.x; i < 8 * kWidth; i += kThreads) {
      const int level = static_cast<int>(8 * first + i);
      if (level >= levels.count) break;
      unsigned sum = 0;
#pragma unroll
      for (unsigned p = 0; p < kParts; ++p) sum += sums[(p * 8 + i % 8) * kWidth + i / 8];
      emit(level, sum);
    }
  }
}

/// What counting the image returns.
struct Head {
  unsigned launch;      ///< number of this launch
  Counts counts;        ///< of this launch
  Counts before;        ///< of the launch before
  GridBarrier barrier;  ///< the barrier of all blocks
};

/// Counts the image; returns when all blocks have finished.
/// @param memory  shared memory of the counters
template <typename T, typename Counters>
__device__ Head count_image(const CountJob<T> &job, Counters &counters,
                            BlockShare<T, Counters> &share, unsigned char *memory) {
  let_next_kernel_start();
  wait_for_kernels_before();
  share.load();
  GridBarrier barrier(&job.state->barrier);
  State &state = *job.state;
  const unsigned launch = state.launches;
  counters.clear();
  __syncthreads();
  const int levels = job.levels.count, all = levels * Counters::kCopies;
  std::uint32_t *const counts = state.counts(launch, all);
  std::uint32_t *const mine = counts + blockIdx.x % Counters::kCopies * levels;
  const auto counts_level = [&](int level) { return level >= job.lowest && level <= job.highest; };
  share.count(counters, [&](int level, unsigned n) {
    if (n > 0 && counts_level(level)) atomicAdd(mine + level, n);
  });
  uint4 *const tables = state.tables(all);
  if constexpr (Counters::kTable) {
    const int vectors = table_vectors(job.levels);
    for (int i = threadIdx.x; i < vectors; i += Counters::kThreads)
      tables[static_cast<std::size_t>(blockIdx.x) * vectors + i] =
          reinterpret_cast<const uint4 *>(memory)[i];
  }
  std::uint32_t *const next = state.counts(launch + 1, all);
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < static_cast<unsigned>(all);
       i += gridDim.x * blockDim.x)
    next[i] = 0;
  barrier.meet();
  if constexpr (Counters::kTable) {
    sum_up_tables<Counters::kThreads>(tables, job.levels, memory, [&](int level, unsigned n) {
      if (counts_level(level)) counts[level] += n;
    });
    barrier.meet();
  }
  if (blockIdx.x == 0 && threadIdx.x == 0)
    state.launches = launch + 1 < State::kMostLaunches ? launch + 1 : 6;
  return {launch,
          {counts, levels, Counters::kCopies},
          {state.counts(launch + 2, all), levels, Counters::kCopies},
          barrier};
}

/// Copies a histogram; all blocks call it.
__device__ inline void copy_counts(const Counts &from, std::uint32_t *to) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < static_cast<unsigned>(from.levels);
       i += gridDim.x * blockDim.x)
    to[i] = from[static_cast<int>(i)];
}

}  // namespace cudascan::histogram
