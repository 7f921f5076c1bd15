// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Order statistics of windows of any size and shape from a histogram that slides along a row with
/// its block. A step adds and removes as many samples as the window has runs. Histograms have two
/// levels, by the upper half of the bits and by all bits; searches use one after the other.
#pragma once
#include "kernels/base/warp_sums.cuh"
#include "kernels/swofilter/rank/selection.cuh"

namespace cudascan::swo {

constexpr int kHistogramThreads = 256;

/// Pixels of a row per block.
constexpr int kHistogramPixels = 128;

/// Sums over all threads with lower numbers, and over all; the threads of the block call it
/// together.
__device__ inline unsigned block_sums_before(unsigned v, unsigned *warp_totals, unsigned &all) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned sum = warp_scan(v);
  __syncthreads();  // the previous totals have been read
  if (lane == 31) warp_totals[warp] = sum;
  __syncthreads();
  unsigned before = sum - v;
  all = 0;
  for (int w = 0; w < kHistogramThreads / 32; ++w) {
    const unsigned total = warp_totals[w];
    if (w < warp) before += total;
    all += total;
  }
  return before;
}

/// A histogram of up to 65025 samples in the memory of a block. A word has two 16-bit counts.
template <typename T>
class SlidingHistogram {
 public:
  static constexpr int kLevels = 1 << (8 * sizeof(T)), kGroups = 256, kPerGroup = kLevels / kGroups;
  static constexpr int kFineBytes = kLevels * 2;

  struct Shared {
    unsigned group_count[kGroups], group_sum[kGroups];
    unsigned warp_totals[kHistogramThreads / 32];
    unsigned found_group, found_rest, found_value, found_below_sum;
    unsigned long long best;
  };

  __device__ SlidingHistogram(Shared &shared, unsigned *fine, int shift)
      : shared_(shared), fine_(fine), shift_(shift) {}

  __device__ void clear() {
    for (int i = threadIdx.x; i < kFineBytes / 4; i += kHistogramThreads) fine_[i] = 0;
    shared_.group_count[threadIdx.x] = shared_.group_sum[threadIdx.x] = 0;
    __syncthreads();
  }
  __device__ void add(unsigned v) { change(v, 1); }
  __device__ void take(unsigned v) { change(v, -1); }

  /// The number of samples; all threads call this and the following functions.
  __device__ unsigned count() {
    unsigned all;
    block_sums_before(shared_.group_count[threadIdx.x], shared_.warp_totals, all);
    return all;
  }

  /// Sample number `rank`, the number of samples below it, and their sum in levels.
  struct Found {
    unsigned value, below, sum_below;
  };
  __device__ Found at(unsigned rank) {
    unsigned all;
    const int t = threadIdx.x;
    const unsigned n = shared_.group_count[t];
    const unsigned before = block_sums_before(n, shared_.warp_totals, all);
    const unsigned sum_before = block_sums_before(shared_.group_sum[t], shared_.warp_totals, all);
    if (rank >= before && rank - before < n) {
      shared_.found_group = t;
      shared_.found_rest = before;
      shared_.found_below_sum = sum_before;
    }
    __syncthreads();
    Found found{shared_.found_group, shared_.found_rest, shared_.found_below_sum};
    if constexpr (kPerGroup == 1) {
      return found;
    } else {
      const unsigned value = found.value * kPerGroup + t;
      const unsigned m = fine(value);
      const unsigned fine_before = found.below + block_sums_before(m, shared_.warp_totals, all);
      const unsigned fine_sum =
          found.sum_below + block_sums_before(m * (value >> shift_), shared_.warp_totals, all);
      if (rank >= fine_before && rank - fine_before < m) {
        shared_.found_value = value;
        shared_.found_rest = fine_before;
        shared_.found_below_sum = fine_sum;
      }
      __syncthreads();
      return {shared_.found_value, shared_.found_rest, shared_.found_below_sum};
    }
  }

  /// The mean of n samples without the first and last t.
  __device__ unsigned trimmed_mean(unsigned n, unsigned t) {
    const Found low = at(t);
    __syncthreads();
    const Found high = at(n - 1 - t);
    const unsigned left = n - 2 * t;
    // All below `high` minus those below `low`, plus the remaining samples equal to both.
    const std::uint64_t sum = std::uint64_t{high.sum_below} - low.sum_below -
                              std::uint64_t{t - low.below} * (low.value >> shift_) +
                              std::uint64_t{n - t - high.below} * (high.value >> shift_);
    return static_cast<unsigned>((2 * sum + left) / (2 * left)) << shift_;
  }

  __device__ unsigned mode() {
    unsigned long long best = 0;  // the count, with lower bits that are larger for lower samples
    if (threadIdx.x == 0) shared_.best = 0;
    for (int i = threadIdx.x; i < kLevels; i += kHistogramThreads)
      best = max(best, static_cast<unsigned long long>(fine(i)) << 32 |
                           static_cast<unsigned>(kLevels - 1 - i));
    __syncthreads();
    atomicMax(&shared_.best, best);
    __syncthreads();
    return kLevels - 1 - static_cast<unsigned>(shared_.best);
  }

 private:
  __device__ unsigned fine(unsigned v) const { return fine_[v / 2] >> (v % 2 * 16) & 0xffff; }
  __device__ void change(unsigned v, int by) {
    atomicAdd(&fine_[v / 2], static_cast<unsigned>(by) << (v % 2 * 16));
    atomicAdd(&shared_.group_count[v / kPerGroup], static_cast<unsigned>(by));
    atomicAdd(&shared_.group_sum[v / kPerGroup], static_cast<unsigned>(by) * (v >> shift_));
  }

  Shared &shared_;
  unsigned *fine_;
  int shift_;
};

/// @param fine  memory for the histograms of the blocks; nullptr = shared memory
template <typename T>
__global__ void __launch_bounds__(kHistogramThreads)
    histogram_kernel(const __grid_constant__ SelectionJob<T> job,
                     const __grid_constant__ WindowCells cells, unsigned *fine) {
  using Histogram = SlidingHistogram<T>;
  __shared__ typename Histogram::Shared shared;
  Histogram histogram(shared,
                      fine ? fine + std::size_t{blockIdx.x} * (Histogram::kFineBytes / 4)
                           : reinterpret_cast<unsigned *>(dynamic_shared_memory()),
                      job.shift);
  const int width = job.out.width, height = job.out.height;
  const int parts = (width + kHistogramPixels - 1) / kHistogramPixels;
  const auto add = [&](unsigned v) { histogram.add(v); };
  const auto take = [&](unsigned v) { histogram.take(v); };
  for (std::int64_t part = blockIdx.x; part < std::int64_t{parts} * height; part += gridDim.x) {
    const int y = static_cast<int>(part / parts);
    const int first = static_cast<int>(part % parts) * kHistogramPixels;
    const int last = min(first + kHistogramPixels, width);
    histogram.clear();
    for (int i = 0; i < cells.n_runs; ++i) {
      const Run run = cells.runs[i];
      for (int dx = run.first + static_cast<int>(threadIdx.x); dx <= run.last;
           dx += kHistogramThreads)
        job.in.visit(first + dx, y + run.y, add);
    }
    for (int x = first; x < last; ++x) {
      __syncthreads();
      const auto n = static_cast<int>(histogram.count());
      unsigned result = job.in.plane.row(y)[x];
      if (n > 0) {
        switch (job.op) {
          case SwoFilterOperator::median:
            result = histogram.at(n / 2).value;
            break;
          case SwoFilterOperator::rank:
            result = histogram.at(rank_of(n, job.percentile)).value;
            break;
          case SwoFilterOperator::alpha_trimmed_mean:
            result = histogram.trimmed_mean(n, trimmed(n, job.alpha));
            break;
          default:
            result = histogram.mode();
            break;
        }
      }
      if (threadIdx.x == 0) job.out.row(y)[x] = static_cast<T>(result);
      __syncthreads();
      for (int i = threadIdx.x; i < cells.n_runs; i += kHistogramThreads) {
        const Run run = cells.runs[i];
        job.in.visit(x + run.first, y + run.y, take);
        job.in.visit(x + 1 + run.last, y + run.y, add);
      }
    }
    __syncthreads();
  }
}

}  // namespace cudascan::swo
