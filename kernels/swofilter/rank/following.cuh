// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Ranks and trimmed means of windows of any shape from the bins of ordered tiles. Histograms slide
/// down as in sliding.cuh. Each order statistic that is asked for follows its place: the samples
/// below it are counted, and summed up for means, as samples leave and enter. So from a window to
/// the next one only the few bins between both places are visited. Samples are read long before
/// they are counted, as few threads have room for their histograms.
#pragma once
#include "kernels/swofilter/rank/ordinals.cuh"

namespace cudascan::swo {

/// Counts of bins in the window of a thread, and sums of their samples if these are asked for. A
/// word has the counts of an even bin and the next; bin number n_bins has the missing samples. Sums
/// of the largest window of the largest samples fit into 32 bits.
template <int n_bins, bool with_sums>
class FollowedBins {
 public:
  static constexpr int kNumber = n_bins;
  static constexpr bool kSums = with_sums;
  static constexpr int kWords = n_bins / 2 + 1 + (with_sums ? n_bins + 1 : 0);

  /// @param words  of this thread, kSlidingThreads apart
  __device__ explicit FollowedBins(unsigned *words) : words_(words) {}

  __device__ void clear() const {
    for (int i = 0; i < kWords; ++i) words_[i * kSlidingThreads] = 0;
  }
  /// Adds a sample, or removes it with by = -1. Nobody else uses the words: the atomic operation
  /// saves waiting for what they were.
  __device__ void change(unsigned bin, unsigned value, unsigned by) const {
    atomicAdd(words_ + (bin >> 1) * kSlidingThreads, bin % 2 ? by << 16 : by);
    if constexpr (with_sums)
      atomicAdd(words_ + (n_bins / 2 + 1 + bin) * kSlidingThreads, by * value);
  }
  /// Of the bins 2 i, in the lower half, and 2 i + 1.
  __device__ unsigned counts(unsigned i) const { return words_[i * kSlidingThreads]; }
  __device__ unsigned missing() const { return counts(n_bins / 2); }
  __device__ unsigned sum(unsigned bin) const {
    return words_[(n_bins / 2 + 1 + bin) * kSlidingThreads];
  }

 private:
  unsigned *words_;
};

/// A place in the order of a window's samples.
template <typename Bins>
class Follower {
 public:
  /// To be called for each sample that is added, or removed with by = -1.
  __device__ void change(unsigned bin, unsigned value, unsigned by) {
    if (bin >= first_) return;
    below_ += by;
    if constexpr (Bins::kSums) sum_ += by * value;
  }
  __device__ RankedBin at(const Bins &bins, unsigned rank) {
    unsigned word = first_ / 2;
    while (rank < below_) {
      --word;
      below_ -= number(bins.counts(word));
      if constexpr (Bins::kSums) sum_ -= bins.sum(2 * word) + bins.sum(2 * word + 1);
    }
    unsigned counts;
    for (unsigned n; rank >= below_ + (n = number(counts = bins.counts(word))); ++word) {
      below_ += n;
      if constexpr (Bins::kSums) sum_ += bins.sum(2 * word) + bins.sum(2 * word + 1);
    }
    first_ = 2 * word;
    const unsigned rest = rank - below_, even = counts & 0xffff;
    return rest < even ? RankedBin{first_, rest, even}
                       : RankedBin{first_ + 1, rest - even, counts >> 16};
  }
  /// The sum of the samples in the bins before this one, which at() returned last.
  __device__ unsigned sum_before(const Bins &bins, unsigned bin) const {
    return bin > first_ ? sum_ + bins.sum(first_) : sum_;
  }

 private:
  __device__ static unsigned number(unsigned counts) { return (counts & 0xffff) + (counts >> 16); }

  unsigned first_ = 0;            ///< the first bin of a word
  unsigned below_ = 0, sum_ = 0;  ///< of lower bins
};

/// What following_kernel finds for medians and ranks.
struct FollowedRank {
  using Bins = FollowedBins<kBins, false>;
  using Found = RankedBin;

  Follower<Bins> place;

  __device__ void change(unsigned bin, unsigned value, unsigned by) {
    place.change(bin, value, by);
  }
  __device__ Found find(const Bins &bins, const OrdinalJob<Found> &job, unsigned n) {
    return n == 0 ? Found{} : place.at(bins, job.rank(n));
  }
};

/// What following_kernel finds for trimmed means. Fewer bins leave room for their sums.
struct FollowedMean {
  using Bins = FollowedBins<128, true>;
  using Found = TrimmedBins;

  Follower<Bins> begin, end;

  __device__ void change(unsigned bin, unsigned value, unsigned by) {
    begin.change(bin, value, by);
    end.change(bin, value, by);
  }
  __device__ Found find(const Bins &bins, const OrdinalJob<Found> &job, unsigned n) {
    if (n == 0) return {};
    const unsigned t = trimmed(n, job.selection.alpha);
    Found found{begin.at(bins, t), end.at(bins, n - 1 - t), 0, n};
    const unsigned first = found.first.bin, last = found.last.bin;
    found.sum = end.sum_before(bins, last) - begin.sum_before(bins, first);
    if (!found.first_is_whole()) found.sum -= bins.sum(first);
    if (found.last_is_whole()) found.sum += bins.sum(last);
    return found;
  }
};

/// The samples of a window's runs, one after another, kSlidingAhead at a time. Of the last ones of
/// a run there may be fewer.
class RunSamples {
 public:
  __device__ RunSamples(const int2 *ends, int n_runs, const unsigned *middle, int stride)
      : ends_(ends), middle_(middle), n_runs_(n_runs), stride_(stride) {}

  /// Reads the next ones, and returns how many these are.
  __device__ int next(unsigned (&samples)[kSlidingAhead]) {
    if (run_ == n_runs_) return 0;
    const int2 ends = ends_[run_];
    const int left = (ends.y - ends.x) / stride_ - done_, n = min(left, kSlidingAhead);
    const unsigned *const from = middle_ + ends.x + done_ * stride_;
#pragma unroll
    for (int i = 0; i < kSlidingAhead; ++i) samples[i] = from[min(i, n - 1) * stride_];
    done_ += n;
    if (n == left) done_ = 0, ++run_;
    return n;
  }

 private:
  const int2 *ends_;
  const unsigned *middle_;
  int n_runs_, stride_, run_ = 0, done_ = 0;
};

/// Bytes of shared memory of a block: the ends of the runs, then the histograms of the threads.
template <typename Followed>
int following_bytes(const WindowColumns &columns) {
  return columns.n_runs * static_cast<int>(sizeof(int2)) +
         kSlidingThreads * Followed::Bins::kWords * static_cast<int>(sizeof(unsigned));
}

/// A thread per column of results.
/// @tparam Followed  FollowedRank or FollowedMean
template <typename Followed>
static __global__ void __launch_bounds__(kSlidingThreads)
    following_kernel(const __grid_constant__ OrdinalSlidingJob<typename Followed::Found> job,
                     const __grid_constant__ WindowColumns columns) {
  const int2 *const ends = sliding_ends(columns, job.stride);
  const int n_runs = columns.n_runs, stride = job.stride;
  const int x = job.x0() + static_cast<int>(threadIdx.x), bottom = job.bottom();
  if (x >= job.right()) return;
  const typename Followed::Bins bins(
      reinterpret_cast<unsigned *>(dynamic_shared_memory() + n_runs * sizeof(int2)) + threadIdx.x);
  Followed followed;
  const auto change = [&](unsigned sample, unsigned by) {
    const unsigned bin = sample & 0xffff, value = sample >> 16 >> job.selection.shift;
    bins.change(bin, value, by);
    followed.change(bin, value, by);
  };

  bins.clear();
  int y = job.y0();
  const unsigned *middle = job.at(x, y);
  unsigned enters[kSlidingAhead], leaves[kSlidingAhead];
  RunSamples samples(ends, n_runs, middle, stride);
#pragma unroll 1
  for (int n = samples.next(enters); n > 0;) {
    unsigned now[kSlidingAhead];
#pragma unroll
    for (int i = 0; i < kSlidingAhead; ++i) now[i] = enters[i];
    const int n_next = samples.next(enters);
#pragma unroll
    for (int i = 0; i < kSlidingAhead; ++i)
      if (i < n) change(now[i], 1);
    n = n_next;
  }

  // The samples of the runs from number i on.
  const auto read = [&](const unsigned *from, int i) {
#pragma unroll
    for (int j = 0; j < kSlidingAhead; ++j) {
      const int2 offset = ends[min(i + j, n_runs - 1)];
      leaves[j] = from[offset.x];
      enters[j] = from[offset.y];
    }
  };
  if (y + 1 < bottom) read(middle, 0);
#pragma unroll 1
  for (;;) {
    job.found_at(x, y) = followed.find(bins, job, columns.count - bins.missing());
    if (++y == bottom) return;
#pragma unroll 1
    for (int i = 0; i < n_runs; i += kSlidingAhead) {
      unsigned out[kSlidingAhead], in[kSlidingAhead];
#pragma unroll
      for (int j = 0; j < kSlidingAhead; ++j) out[j] = leaves[j], in[j] = enters[j];
      if (i + kSlidingAhead < n_runs)
        read(middle, i + kSlidingAhead);
      else if (y + 1 < bottom)
        read(middle + stride, 0);
#pragma unroll
      for (int j = 0; j < kSlidingAhead; ++j) {
        if (i + j == n_runs) break;
        change(out[j], -1u);
        change(in[j], 1);
      }
    }
    middle += stride;
  }
}

}  // namespace cudascan::swo
