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

/// Bytes between two words of a thread. Bins of samples are multiplied by it.
constexpr unsigned kFollowedUnit = kSlidingThreads * sizeof(unsigned);

/// A number of samples.
struct SampleCount {
  unsigned n = 0;

  __device__ unsigned number() const { return n; }
  __device__ void operator+=(const SampleCount &other) { n += other.n; }
  __device__ void operator-=(const SampleCount &other) { n -= other.n; }
};

/// A number of samples and their sum. Sums of the largest window of the largest samples fit into 32
/// bits.
struct SampleSum {
  unsigned n = 0, value = 0;

  __device__ unsigned number() const { return n; }
  __device__ unsigned sum() const { return value; }
  __device__ void operator+=(const SampleSum &other) { n += other.n, value += other.value; }
  __device__ void operator-=(const SampleSum &other) { n -= other.n, value -= other.value; }
};

/// Most samples of a SmallSampleSum.
constexpr int kMostSmallSum = 255;

/// The same for few samples: the number in the upper byte.
struct SmallSampleSum {
  unsigned both = 0;

  __device__ unsigned number() const { return both >> 24; }
  __device__ unsigned sum() const { return both & 0xffffff; }
  __device__ void operator+=(const SmallSampleSum &other) { both += other.both; }
  __device__ void operator-=(const SmallSampleSum &other) { both -= other.both; }
};

/// Words of a thread's bins.
class FollowedWords {
 public:
  __device__ explicit FollowedWords(unsigned *words) : words_(words) {}

  /// @param offset  in bytes
  __device__ unsigned &operator[](unsigned offset) const {
    return *reinterpret_cast<unsigned *>(reinterpret_cast<unsigned char *>(words_) + offset);
  }
  /// Only this thread uses the word: the atomic operation saves waiting for what it was.
  __device__ void add(unsigned offset, unsigned v) const { atomicAdd(&(*this)[offset], v); }

 private:
  unsigned *words_;
};

/// Counts of the bins of a window. A word has those of an even bin and the next. Bin number kNumber
/// has the samples that are missing, also in the classes below.
class CountedBins {
 public:
  using Tally = SampleCount;
  static constexpr unsigned kNumber = 254, kGroup = 2, kWords = kNumber / 2 + 1;

  __device__ explicit CountedBins(unsigned *words) : words_(words) {}

  /// @param bin  kFollowedUnit times its number, here and below
  __device__ static Tally of(unsigned) { return {1}; }
  __device__ void enter(unsigned bin, const Tally &) const { words_.add(word(bin), one(bin)); }
  __device__ void leave(unsigned bin, const Tally &) const { words_.add(word(bin), -one(bin)); }
  __device__ Tally at(unsigned bin) const {
    return {words_[word(bin)] >> (bin % (2 * kFollowedUnit) ? 16 : 0) & 0xffff};
  }
  /// Of kGroup bins.
  __device__ Tally group(unsigned first) const {
    const unsigned both = words_[word(first)];
    return {(both & 0xffff) + (both >> 16)};
  }

 private:
  __device__ static unsigned word(unsigned bin) {
    return bin / (2 * kFollowedUnit) * kFollowedUnit;
  }
  __device__ static unsigned one(unsigned bin) { return bin & kFollowedUnit ? 0x10000 : 1; }

  FollowedWords words_;
};

/// Counts and sums of bins.
class SummedBins {
 public:
  using Tally = SampleSum;
  static constexpr unsigned kNumber = 126, kGroup = 2, kWords = kNumber + 1 + kNumber / 2 + 1;

  __device__ explicit SummedBins(unsigned *words)
      : sums_(words), counts_(words + (kNumber + 1) * kSlidingThreads) {}

  /// @param sample  its upper half
  __device__ static Tally of(unsigned sample) { return {1, sample}; }
  __device__ void enter(unsigned bin, const Tally &one) const {
    counts_.enter(bin, {});
    sums_.add(bin, one.value);
  }
  __device__ void leave(unsigned bin, const Tally &one) const {
    counts_.leave(bin, {});
    sums_.add(bin, -one.value);
  }
  __device__ Tally at(unsigned bin) const { return {counts_.at(bin).n, sums_[bin]}; }
  __device__ Tally group(unsigned first) const {
    return {counts_.group(first).n, sums_[first] + sums_[first + kFollowedUnit]};
  }

 private:
  FollowedWords sums_;
  CountedBins counts_;
};

/// The same for windows of few samples.
class SmallSummedBins {
 public:
  using Tally = SmallSampleSum;
  static constexpr unsigned kNumber = 128, kGroup = 1, kWords = kNumber + 1;

  __device__ explicit SmallSummedBins(unsigned *words) : words_(words) {}

  __device__ static Tally of(unsigned sample) { return {1 << 24 | sample}; }
  __device__ void enter(unsigned bin, const Tally &one) const { words_.add(bin, one.both); }
  __device__ void leave(unsigned bin, const Tally &one) const { words_.add(bin, -one.both); }
  __device__ Tally at(unsigned bin) const { return {words_[bin]}; }
  __device__ Tally group(unsigned first) const { return at(first); }

 private:
  FollowedWords words_;
};

/// A place in the order of a window's samples.
template <typename Bins>
class Follower {
 public:
  using Tally = typename Bins::Tally;

  /// For each sample that enters or leaves the window.
  __device__ void enter(unsigned bin, const Tally &one) {
    if (bin < first_) below_ += one;
  }
  __device__ void leave(unsigned bin, const Tally &one) {
    if (bin < first_) below_ -= one;
  }
  __device__ RankedBin at(const Bins &bins, unsigned rank) {
    constexpr unsigned kStep = Bins::kGroup * kFollowedUnit;
    while (rank < below_.number()) below_ -= bins.group(first_ -= kStep);
    for (;; first_ += kStep) {
      Tally up_to = below_;
      up_to += bins.group(first_);
      if (rank < up_to.number()) break;
      below_ = up_to;
    }
    const unsigned rest = rank - below_.number(), count = bins.at(first_).number();
    const unsigned number = first_ / kFollowedUnit;
    if (Bins::kGroup == 1 || rest < count) return {number, rest, count};
    return {number + 1, rest - count, bins.at(first_ + kFollowedUnit).number()};
  }
  /// The sum of the samples in the bins before the one that at() returned last.
  __device__ unsigned sum_before(const Bins &bins, unsigned bin) const {
    return below_.sum() + (bin > first_ ? bins.at(first_).sum() : 0);
  }

 private:
  unsigned first_ = 0;  ///< of a group
  Tally below_;         ///< lower bins
};

/// What following_kernel finds for medians and ranks.
struct FollowedRank {
  using Bins = CountedBins;
  using Found = RankedBin;
  static constexpr bool kOfMeans = false;

  Follower<Bins> place;

  template <typename Visit>
  __device__ void visit(const Visit &visit) {
    visit(place);
  }
  __device__ Found find(const Bins &bins, const OrdinalJob<Found> &job, unsigned n) {
    return n == 0 ? Found{} : place.at(bins, job.rank(n));
  }
};

/// What following_kernel finds for trimmed means.
template <typename SumsOfBins>
struct FollowedMean {
  using Bins = SumsOfBins;
  using Found = TrimmedBins;
  static constexpr bool kOfMeans = true;

  Follower<Bins> begin, end;

  template <typename Visit>
  __device__ void visit(const Visit &visit) {
    visit(begin);
    visit(end);
  }
  __device__ Found find(const Bins &bins, const OrdinalJob<Found> &job, unsigned n) {
    if (n == 0) return {};
    const unsigned t = trimmed(n, job.selection.alpha);
    Found found{begin.at(bins, t), end.at(bins, n - 1 - t), 0, n};
    const unsigned first = found.first.bin * kFollowedUnit, last = found.last.bin * kFollowedUnit;
    found.sum = end.sum_before(bins, last) - begin.sum_before(bins, first);
    if (!found.first_is_whole()) found.sum -= bins.at(first).sum();
    if (found.last_is_whole()) found.sum += bins.at(last).sum();
    return found;
  }
};

/// The samples of a window's runs, one after another, kSlidingAhead at a time. Of the last ones of
/// a run there may be fewer.
class RunSamples {
 public:
  __device__ RunSamples(const int2 *ends, int n_runs, const unsigned *middle, int stride)
      : ends_(ends), middle_(middle), n_runs_(n_runs), stride_(stride) {}

  /// Reads the next ones. Returns how many there are, times the distance of samples.
  __device__ int next(unsigned (&samples)[kSlidingAhead]) {
    if (run_ == n_runs_) return 0;
    const int2 ends = ends_[run_];
    const int first = ends.x + done_, left = ends.y - first;
#pragma unroll
    for (int i = 0; i < kSlidingAhead; ++i)
      samples[i] = middle_[first + min(i * stride_, left - stride_)];
    done_ += kSlidingAhead * stride_;
    if (left <= kSlidingAhead * stride_) done_ = 0, ++run_;
    return left;
  }

 private:
  const int2 *ends_;
  const unsigned *middle_;
  int n_runs_, stride_, run_ = 0, done_ = 0;
};

/// The ends of runs fill whole batches.
CUDASCAN_HD constexpr int followed_ends(int n_runs) {
  return (n_runs + kSlidingAhead - 1) / kSlidingAhead * kSlidingAhead;
}

/// Bytes of shared memory of a block: the ends of the runs, then the bins of the threads.
template <typename Followed>
int following_bytes(const WindowColumns &columns) {
  return followed_ends(columns.n_runs) * static_cast<int>(sizeof(int2)) +
         static_cast<int>(Followed::Bins::kWords * kFollowedUnit);
}

/// A thread per column of results.
/// @tparam Followed   FollowedRank or FollowedMean
/// @tparam is_filled  by fill_windows()
template <typename Followed, bool is_filled>
static __global__ void __launch_bounds__(kSlidingThreads)
    following_kernel(const __grid_constant__ OrdinalSlidingJob<typename Followed::Found> job,
                     const __grid_constant__ WindowColumns columns) {
  using Bins = typename Followed::Bins;
  constexpr int kAhead = kSlidingAhead;
  const int n_runs = columns.n_runs, n_ends = followed_ends(n_runs), stride = job.stride;
  auto *const ends = reinterpret_cast<int2 *>(dynamic_shared_memory());
  for (int i = n_runs + threadIdx.x; i < n_ends; i += kSlidingThreads) ends[i] = int2{};
  sliding_ends(columns, stride);
  const int x = job.x0() + static_cast<int>(threadIdx.x), bottom = job.bottom();
  // All lanes of a warp that has columns fill windows.
  if (x - (is_filled ? static_cast<int>(threadIdx.x % 32) : 0) >= job.right()) return;
  auto *const words = reinterpret_cast<unsigned *>(ends + n_ends) + threadIdx.x;
  const Bins bins(words);
  Followed followed;
  const auto enter = [&](unsigned sample) {
    const unsigned bin = sample & 0xffff;
    const auto one = Bins::of(sample >> 16);
    bins.enter(bin, one);
    followed.visit([&](auto &place) { place.enter(bin, one); });
  };
  const auto leave = [&](unsigned sample) {
    const unsigned bin = sample & 0xffff;
    const auto one = Bins::of(sample >> 16);
    bins.leave(bin, one);
    followed.visit([&](auto &place) { place.leave(bin, one); });
  };

  for (unsigned i = 0; i < Bins::kWords; ++i) words[i * kSlidingThreads] = 0;
  int y = job.y0();
  const unsigned *middle = job.at(x, y);
  unsigned enters[kAhead], leaves[kAhead];
  // The followed places are before all samples yet.
  if constexpr (is_filled) {
    fill_windows<Bins::kWords>(
        {ends, n_runs, stride}, middle, x < job.right(), words, [&](unsigned sample, unsigned by) {
          const auto one = Bins::of(sample >> 16);
          by == 1 ? bins.enter(sample & 0xffff, one) : bins.leave(sample & 0xffff, one);
        });
    if (x >= job.right()) return;
  } else {
    RunSamples samples(ends, n_runs, middle, stride);
#pragma unroll 1
    for (int n = samples.next(enters); n > 0;) {
      unsigned now[kAhead];
#pragma unroll
      for (int i = 0; i < kAhead; ++i) now[i] = enters[i];
      const int n_next = samples.next(enters);
#pragma unroll
      for (int i = 0; i < kAhead; ++i)
        if (i * stride < n) bins.enter(now[i] & 0xffff, Bins::of(now[i] >> 16));
      n = n_next;
    }
  }

  // The samples of a batch of runs.
  const auto read = [&](const unsigned *from, int i) {
#pragma unroll
    for (int j = 0; j < kAhead; ++j) {
      const int2 offset = ends[i + j];
      leaves[j] = from[offset.x];
      enters[j] = from[offset.y];
    }
  };
  if (y + 1 < bottom) read(middle, 0);
#pragma unroll 1
  for (;;) {
    const unsigned missing = bins.at(Bins::kNumber * kFollowedUnit).number();
    job.found_at(x, y) = followed.find(bins, job, columns.count - missing);
    if (++y == bottom) return;
    const unsigned *const next_middle = middle + stride;
#pragma unroll 1
    for (int i = 0; i < n_runs;) {
      unsigned out[kAhead], in[kAhead];
#pragma unroll
      for (int j = 0; j < kAhead; ++j) out[j] = leaves[j], in[j] = enters[j];
      const int n = n_runs - i;
      i += kAhead;
      const bool is_last = n <= kAhead;
      if (!is_last || y + 1 < bottom) read(is_last ? next_middle : middle, is_last ? 0 : i);
      if (n >= kAhead) {
#pragma unroll
        for (int j = 0; j < kAhead; ++j) leave(out[j]), enter(in[j]);
      } else {
#pragma unroll
        for (int j = 0; j < kAhead; ++j) {
          if (j == n) break;
          leave(out[j]), enter(in[j]);
        }
      }
    }
    middle = next_middle;
  }
}

}  // namespace cudascan::swo
