// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The statistics of an image that Wolf's method needs: the smallest sample, and a window with the
/// largest standard deviation.
#pragma once
#include "kernels/nick/decisions.cuh"

namespace cudascan::nick {

static_assert(alignof(WolfStatistics) >= alignof(unsigned long long));

static __device__ __noinline__ bool exactly_busier(WindowSums a, const WindowSums &b) {
  return busier(a, b);
}

static __device__ void merge(WolfStatistics &to, const WolfStatistics &from) {
  to.minimum = min(to.minimum, from.minimum);
  if (exactly_busier(from.busiest, to.busiest)) to.busiest = from.busiest;
}

/// Merges the statistics of a block's threads into the first.
static __device__ void combine(WolfStatistics *all, int n) {
  const int t = threadIdx.x;
  for (int half = (n + 1) / 2; n > 1; n = half, half = (n + 1) / 2) {
    if (t + half < n) merge(all[t], all[t + half]);
    __syncthreads();
  }
}

/// Finds the statistics of each block.
template <typename T, typename SumS, typename SumQ>
class WolfDecision : public ThresholdDecision<T, SumS, SumQ, NickMethod::wolf> {
  using Base = ThresholdDecision<T, SumS, SumQ, NickMethod::wolf>;
  using Base::near_;
  using Base::u_;

 public:
  using typename Base::Job;
  using typename Base::Row;
  using typename Base::Shared;

  __device__ WolfDecision(const Job &job, const Shared &shared, const Row &, int /*y*/)
      : Base(job, shared) {}

  template <bool inner>
  __device__ void set_rows(const Row &) {}
  template <Columns columns, int j>
  __device__ void column(const Row &row, const WindowSize &size) {
    u_[j] = deviation(Base::sums(row, j), size) * size.inverse;
    near_ |= u_[j] >= most_;
  }
  template <Columns columns>
  __device__ void store(const Row &row, int /*y*/) {
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      if (j < row.valid) statistics_.minimum = min(statistics_.minimum, row.samples[j]);
      if (near_ && j < row.valid && u_[j] >= most_) {
        if (const WindowSums w = Base::template window<columns>(row, j);
            exactly_busier(w, statistics_.busiest)) {
          statistics_.busiest = w;
          most_ = u_[j] * (1 - 1e-4f) - 1e-3f;
        }
      }
    }
  }
  __device__ void finish(const Row &, int, int, unsigned char *memory) const {
    const int t = threadIdx.x;
    __syncthreads();
    auto *all = reinterpret_cast<WolfStatistics *>(memory);
    all[t] = statistics_;
    __syncthreads();
    combine(all, blockDim.x);
    if (t == 0) this->job_.wolf_partial[blockIdx.x] = all[0];
  }

 private:
  WolfStatistics statistics_{{0, 0, 1}, 0xffffffff};
  float most_ = 0;  // estimate of the largest deviation so far
};

/// Combines the statistics of all blocks into the first.
[[maybe_unused]] static __global__ void wolf_kernel(WolfStatistics *partial, int n) {
  __shared__ WolfStatistics all[256];
  WolfStatistics mine = partial[0];
  for (int i = threadIdx.x; i < n; i += blockDim.x) merge(mine, partial[i]);
  all[threadIdx.x] = mine;
  __syncthreads();
  combine(all, blockDim.x);
  if (threadIdx.x == 0) partial[0] = all[0];
}

}  // namespace cudascan::nick
