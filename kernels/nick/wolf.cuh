// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The statistics of an image that Wolf's method needs: the smallest sample, and a window with the
/// largest standard deviation.
#pragma once
#include "kernels/nick/decisions.cuh"
#include "kernels/nick/surface.cuh"

namespace cudascan::nick {

static_assert(alignof(WolfStatistics) >= alignof(unsigned long long));

/// Whether a is the larger deviation. Double precision is enough, unless they are nearly equal.
static __device__ __noinline__ bool is_busier(Spread a, Spread b) {
  if (a.n == b.n) return a.v() > b.v();
  // V_a N_b^2 and V_b N_a^2, as busier() compares them; the errors are below 2^-50.
  const double an = a.n, bn = b.n;
  const double x = to_double(a.v()) * (bn * bn), y = to_double(b.v()) * (an * an);
  return x > y * (1 + 0x1p-48) || (x > y * (1 - 0x1p-48) && busier(a, b));
}

static __device__ void merge(WolfStatistics &to, const WolfStatistics &from) {
  to.minimum = min(to.minimum, from.minimum);
  if (is_busier(from.busiest, to.busiest)) to.busiest = from.busiest;
}
/// Of no pixel.
static __device__ WolfStatistics no_statistics() {
  return {{0, 1}, 0xffff};
}

/// The square of a deviation that is v / n^2, to 2^-20 of it.
template <typename Variance>
__device__ float deviation_squared(Variance v, unsigned n) {
  const float inverse = reciprocal_approx(static_cast<float>(n));
  return to_float(v) * inverse * inverse;
}
/// No deviation of the warp is larger than those that deviation_squared() estimates above this.
/// @param estimate  the lane's largest
static __device__ float nearly_largest(float estimate) {
  constexpr float kNearlyAll = 1 - 0x1p-16f;
  return __uint_as_float(warp_max(__float_as_uint(estimate * kNearlyAll)));  // not negative
}

/// Merges the statistics of the lanes of a warp.
static __device__ WolfStatistics merge_lanes(const WolfStatistics &mine) {
  const Spread &spread = mine.busiest;
  const float estimate = deviation_squared(spread.v(), spread.n);
  WolfStatistics all = no_statistics();
  all.minimum = warp_min(mine.minimum);
  unsigned lanes = __ballot_sync(kWholeWarp, estimate > nearly_largest(estimate));
  while (lanes) {  // few, unless their deviations are equal
    const int lane = __ffs(lanes) - 1;
    Spread other;
    other.low = __shfl_sync(kWholeWarp, spread.low, lane);
    other.high = __shfl_sync(kWholeWarp, spread.high, lane);
    other.n = __shfl_sync(kWholeWarp, spread.n, lane);
    const bool same = spread.low == other.low && spread.high == other.high && spread.n == other.n;
    lanes &= ~__ballot_sync(kWholeWarp, same);
    if (is_busier(other, all.busiest)) all.busiest = other;
  }
  return all;
}
/// Merges the statistics of the threads of a block; the first warp has the result.
/// @param parts  shared memory for one of each warp
static __device__ WolfStatistics merge_threads(WolfStatistics mine, WolfStatistics *parts) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  mine = merge_lanes(mine);
  if (lane == 0) parts[warp] = mine;
  __syncthreads();
  if (warp == 0) mine = merge_lanes(lane < blockDim.x / 32 ? parts[lane] : no_statistics());
  return mine;
}
/// Merges the statistics of n blocks; the first warp has the result.
static __device__ WolfStatistics merge_blocks(const WolfStatistics *all, unsigned n,
                                              WolfStatistics *parts) {
  WolfStatistics mine = no_statistics();
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) merge(mine, all[i]);
  return merge_threads(mine, parts);
}

/// Finds the statistics of a thread's columns. Of windows of equal size the largest variance is the
/// largest deviation. So each column keeps only that until the number of rows in the windows
/// changes.
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
  /// Of the rows that were stored.
  __device__ WolfStatistics statistics(const Row &row, bool inner) {
    if (rows_ > 0) inner ? fold<true>(row) : fold<false>(row);
    statistics_.minimum = min(least_ & 0xffff, least_ >> 16);
    return statistics_;
  }

 private:
  using Variance = std::conditional_t<sizeof(SumS) == 8, u128, std::uint64_t>;

  /// Adds the columns' largest variances, of windows with rows_ rows, to the statistics. Estimates
  /// leave few of them for exact comparisons. All lanes call it.
  template <bool inner>
  __device__ void fold(const Row &row) {
    if constexpr (inner) {
      Variance most = 0;
#pragma unroll
      for (const Variance v : most_) most = v > most ? v : most;
      const unsigned n = rows_ * row.window_width;
      const float estimate = deviation_squared(most, n);
      enough_ = fmaxf(enough_, nearly_largest(estimate));
      if (estimate > enough_) add({most, n});
    } else {
      float estimates[kColumns], largest = 0;
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        estimates[j] = j < row.valid ? deviation_squared(most_[j], rows_ * row.columns(j)) : 0;
        largest = fmaxf(largest, estimates[j]);
      }
      enough_ = fmaxf(enough_, nearly_largest(largest));
#pragma unroll
      for (int j = 0; j < kColumns; ++j)
        if (estimates[j] > enough_) add({most_[j], rows_ * row.columns(j)});
    }
#pragma unroll
    for (Variance &v : most_) v = 0;
  }
  __device__ void add(const Spread &spread) {
    if (is_busier(spread, statistics_.busiest)) statistics_.busiest = spread;
  }

  WolfStatistics statistics_ = no_statistics();
  float enough_ = 0;             // of the warp: larger estimates need exact comparisons
  unsigned rows_ = 0;            // in the windows since the last fold()
  unsigned least_ = 0xffffffff;  // samples, in both halves
  Variance most_[kColumns] = {};
};

}  // namespace cudascan::nick
