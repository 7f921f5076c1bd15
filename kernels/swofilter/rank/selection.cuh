// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Order statistics of any window without memory for its samples: a thread for each pixel visits
/// the window as often as a sample has bits.
#pragma once
#include "kernels/swofilter/cells.cuh"
#include "kernels/swofilter/rank/rank.h"

namespace cudascan::swo {

/// A set of samples that can be visited repeatedly.
/// @tparam Visit  visit(f) calls f(sample) for each
template <typename Visit>
class SampleSet {
 public:
  /// @param bits  of a sample
  __device__ SampleSet(const Visit &visit, int n, int bits) : visit_(visit), n_(n), bits_(bits) {}

  __device__ int count() const { return n_; }

  /// Sample number `rank` in ascending order.
  __device__ unsigned at(int rank) const {
    unsigned value = 0;
    for (int bit = bits_ - 1; bit >= 0; --bit) {
      const unsigned next = value | 1u << bit;
      if (below(next) <= rank) value = next;
    }
    return value;
  }

  /// Mean, in levels without `shift` bits, without the first and last t samples.
  __device__ unsigned trimmed_mean(int t, int shift) const {
    const unsigned low = at(t), high = at(n_ - 1 - t);
    if (low == high) return low;
    int low_ones = 0, high_ones = 0;  // remaining: the number of samples not between both
    int under = 0, between = 0;
    std::uint64_t sum = 0;
    visit_([&](unsigned v) {
      under += v <= low;
      if (v > low && v < high) {
        ++between;
        sum += v >> shift;
      }
    });
    low_ones = under - t;
    const int left = n_ - 2 * t;
    high_ones = left - low_ones - between;
    sum += std::uint64_t{low >> shift} * low_ones + std::uint64_t{high >> shift} * high_ones;
    return static_cast<unsigned>((2 * sum + left) / (2 * left)) << shift;
  }

  /// The most frequent sample; of several, the lowest.
  __device__ unsigned mode() const {
    unsigned best = 0, value = at(0);
    int most = 0;
    for (int visited = 0; visited < n_;) {
      int same = 0;
      unsigned next = ~0u;
      visit_([&](unsigned v) {
        same += v == value;
        if (v > value) next = min(next, v);
      });
      if (same > most) {
        most = same;
        best = value;
      }
      visited += same;
      if (n_ - visited <= most) break;
      value = next;
    }
    return best;
  }

 private:
  __device__ int below(unsigned value) const {
    int n = 0;
    visit_([&](unsigned v) { n += v < value; });
    return n;
  }

  const Visit &visit_;
  int n_, bits_;
};

template <typename T>
struct SelectionJob {
  Source<T> in;
  Plane<T> out;
  SwoFilterOperator op;
  int bits, shift;
  std::int64_t percentile, alpha;
  int rx, ry;  // half the window
};

/// The operator's result for samples.
template <typename T, typename Visit>
__device__ unsigned statistic_of(const SelectionJob<T> &job, const SampleSet<Visit> &samples) {
  const int n = samples.count();
  switch (job.op) {
    case SwoFilterOperator::median:
      return samples.at(n / 2);
    case SwoFilterOperator::rank:
      return samples.at(rank_of(n, job.percentile));
    case SwoFilterOperator::alpha_trimmed_mean:
      return samples.trimmed_mean(trimmed(n, job.alpha), job.shift);
    default:
      return samples.mode();
  }
}

/// Calls write(x, y) for this thread's pixel, if it has one.
template <typename T, typename Write>
__device__ void for_pixel(const SelectionJob<T> &job, const Write &write) {
  const int x = blockIdx.x * 32 + threadIdx.x % 32, y = blockIdx.y * 8 + threadIdx.x / 32;
  if (x < job.out.width && y < job.out.height) write(x, y);
}

template <typename T>
__global__ void __launch_bounds__(256) selection_kernel(const __grid_constant__ SelectionJob<T> job,
                                                        const __grid_constant__ WindowCells cells) {
  for_pixel(job, [&](int x, int y) {
    const int n = job.in.count(x, y, cells);
    const auto visit = [&](const auto &f) { job.in.visit_window(x, y, cells, f); };
    job.out.row(y)[x] = n == 0 ? job.in.plane.row(y)[x]
                               : static_cast<T>(statistic_of(job, SampleSet(visit, n, job.bits)));
  });
}

}  // namespace cudascan::swo
