// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The statistics of an image that Wolf's method needs: the smallest sample, and a window with the
/// largest standard deviation.
#pragma once
#include "kernels/nick/decisions.cuh"
#include "kernels/nick/surface.cuh"

namespace cudascan::nick {

static_assert(alignof(WolfStatistics) >= alignof(unsigned long long));

static __device__ __noinline__ bool exactly_busier(const Spread &a, const Spread &b) {
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

/// Finds the statistics of each block. Of windows of equal size the largest variance is the largest
/// deviation. So each column keeps only that until the number of rows in the windows changes.
template <typename T, typename SumS, typename SumQ>
class WolfDecision : public ThresholdDecision<T, SumS, SumQ, NickMethod::wolf> {
  using Base = ThresholdDecision<T, SumS, SumQ, NickMethod::wolf>;

 public:
  using typename Base::Job;
  using typename Base::Row;
  using typename Base::Shared;
  static constexpr bool kSizesOfCut = false;
  /// No row waits for exact decisions; two at once take fewer instructions and no more registers.
  template <Columns columns>
  static constexpr int kRowsAtOnce = columns == Columns::inner && sizeof(SumS) == 4 ? 2 : 1;

  __device__ WolfDecision(const Job &job, const Shared &shared, const Row &, int /*y*/)
      : Base(job, shared) {}

  template <bool inner>
  __device__ void set_rows(const Row &row) {
    if (rows_ == row.window_rows) return;
    if (rows_ > 0) fold<inner>(row);
    rows_ = row.window_rows;
  }
  template <Columns>
  __device__ void start(SumS &) {}
  template <Columns columns, int j>
  __device__ void column(const Row &row, const WindowSize &) {
    const auto n = columns == Columns::inner ? row.window_rows * row.window_width
                                             : row.window_rows * row.columns(j);
    const Variance v = scaled_variance(Base::sums(row, j), n);
    most_[j] = v > most_[j] ? v : most_[j];
  }
  template <Columns columns>
  __device__ void store(const Row &row, int /*y*/) {
    if (columns == Columns::inner || row.valid >= kColumns) {
#pragma unroll
      for (const unsigned word : row.samples.word) {
        if constexpr (sizeof(T) == 1) {
          least_ = __vminu2(least_, word & 0x00ff00ff);
          least_ = __vminu2(least_, word >> 8 & 0x00ff00ff);
        } else {
          least_ = __vminu2(least_, word);
        }
      }
    } else {
#pragma unroll
      for (int j = 0; j < kColumns; ++j)
        if (j < row.valid) least_ = __vminu2(least_, row.samples[j] | 0xffff0000);
    }
  }
  __device__ void finish(const Row &row, int, int, unsigned char *memory) {
    const bool inner = row.tile / windowsums::kStageColumns >= this->job_.first_inner &&
                       row.tile / windowsums::kStageColumns < this->job_.last_inner;
    if (rows_ > 0) inner ? fold<true>(row) : fold<false>(row);
    statistics_.minimum = min(least_ & 0xffff, least_ >> 16);
    const int t = threadIdx.x;
    __syncthreads();
    auto *all = reinterpret_cast<WolfStatistics *>(memory);
    all[t] = statistics_;
    __syncthreads();
    combine(all, blockDim.x);
    if (t == 0) this->job_.wolf_partial[blockIdx.x] = all[0];
  }

 private:
  using Variance = std::conditional_t<sizeof(SumS) == 8, u128, std::uint64_t>;

  /// Adds the columns' largest variances, of windows with rows_ rows, to the statistics.
  template <bool inner>
  __device__ void fold(const Row &row) {
    if constexpr (inner) {
      Variance most = 0;
#pragma unroll
      for (const Variance v : most_) most = v > most ? v : most;
      add({most, rows_ * row.window_width});
    } else {
      // Estimates leave few columns for exact comparisons.
      float estimate[kColumns], most = 0;
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        const float inverse = reciprocal_approx(static_cast<float>(rows_ * row.columns(j)));
        estimate[j] = j < row.valid ? static_cast<float>(most_[j]) * inverse * inverse : 0;
        most = fmaxf(most, estimate[j]);
      }
      most *= 1 - 0x1p-16f;
#pragma unroll
      for (int j = 0; j < kColumns; ++j)
        if (estimate[j] > most) add({most_[j], rows_ * row.columns(j)});
    }
#pragma unroll
    for (Variance &v : most_) v = 0;
  }
  __device__ void add(const Spread &spread) {
    if (exactly_busier(spread, statistics_.busiest)) statistics_.busiest = spread;
  }

  WolfStatistics statistics_{{0, 1}, 0xffff};
  unsigned rows_ = 0;            // in the windows since the last fold()
  unsigned least_ = 0xffffffff;  // samples, in both halves
  Variance most_[kColumns] = {};
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
