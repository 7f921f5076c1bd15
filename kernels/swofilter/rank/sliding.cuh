// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Order statistics of windows of any shape of 8-bit samples, or of bins of 16-bit samples. A
/// thread moves the window of one column of results down the image and keeps its histogram in
/// shared memory: a step down removes the upper end and adds the lower one of each run of cells in
/// a column of the window (Huang, Yang, Tang, "A fast two-dimensional median filtering algorithm",
/// IEEE Trans. ASSP 27(1), 1979). Counts of neighbouring threads are neighbours, so there are no
/// bank conflicts.
///
/// The samples are those of a plane with a margin, in which every window is complete: outside the
/// image it has the samples that the border defines, or kNoLevel.
#pragma once
#include "kernels/base/ptx.cuh"
#include "kernels/base/warp_sums.cuh"
#include "kernels/swofilter/rank/digits.cuh"

namespace cudascan::swo {

constexpr int kSlidingThreads = 64;
constexpr unsigned kNoLevel = 256;

/// The histogram of a thread's window. A word has the counts of an even level and the next; the
/// last word counts missing samples.
class SlidingCounts {
 public:
  static constexpr int kWords = 128;
  static constexpr int kBytes = 4 * (kWords + 1);  ///< of shared memory for a thread

  /// @param words  of this thread, kSlidingThreads apart
  __device__ explicit SlidingCounts(unsigned *words) : words_(words) {}

  __device__ void clear() const {
    for (int i = 0; i <= kWords; ++i) words_[i * kSlidingThreads] = 0;
  }
  /// Adds a sample, or removes it with by = -1. Only this thread uses the word: the atomic
  /// operation saves waiting for the old count.
  __device__ void change(unsigned level, unsigned by) const {
    atomicAdd(words_ + (level >> 1) * kSlidingThreads, level % 2 ? by << 16 : by);
  }
  __device__ unsigned even(int i) const { return words_[i * kSlidingThreads] & 0xffff; }
  __device__ unsigned odd(int i) const { return words_[i * kSlidingThreads] >> 16; }
  __device__ unsigned both(int i) const { return even(i) + odd(i); }
  __device__ unsigned missing() const { return words_[kWords * kSlidingThreads]; }

 private:
  unsigned *words_;
};

/// Finds samples by their number. The search begins where the last one ended, because windows of
/// neighbours are similar.
class SlidingSearch {
 public:
  __device__ explicit SlidingSearch(const SlidingCounts &counts) : counts_(counts) {}

  /// To be called for each sample that is added, or removed with by = -1.
  __device__ void change(unsigned level, unsigned by) {
    if (level < first_) below_ += by;
  }
  __device__ RankedLevel at(unsigned rank) {
    unsigned word = first_ / 2;
    while (rank < below_) below_ -= counts_.both(--word);
    for (unsigned n; rank >= below_ + (n = counts_.both(word)); ++word) below_ += n;
    first_ = 2 * word;
    const unsigned rest = rank - below_, even = counts_.even(word);
    return rest < even ? RankedLevel{first_, rest, even}
                       : RankedLevel{first_ + 1, rest - even, counts_.odd(word)};
  }

 private:
  const SlidingCounts &counts_;
  unsigned first_ = 0;  ///< level of the word where the search begins
  unsigned below_ = 0;  ///< samples of lower levels
};

struct LevelAndCount {
  unsigned level, count;
};

/// The most frequent level; of several, the lowest.
__device__ inline LevelAndCount mode_of(const SlidingCounts &counts) {
  unsigned best = 0;
#pragma unroll 8
  for (int i = 0; i < SlidingCounts::kWords; ++i) {
    best = max(best, counts.even(i) << 8 | (255 - 2 * i));
    best = max(best, counts.odd(i) << 8 | (254 - 2 * i));
  }
  return {255 - (best & 255), best >> 8};
}

/// The mean of n samples without the first and last t.
__device__ inline unsigned trimmed_mean_of(const SlidingCounts &counts, unsigned n, unsigned t) {
  unsigned before = 0, sum = 0;
  const auto add = [&](unsigned level, unsigned count) {
    const unsigned after = before + count;
    sum += level * (min(max(after, t), n - t) - min(max(before, t), n - t));
    before = after;
  };
#pragma unroll 8
  for (int i = 0; i < SlidingCounts::kWords; ++i) {
    add(2 * i, counts.even(i));
    add(2 * i + 1, counts.odd(i));
  }
  const unsigned left = n - 2 * t;
  return (2 * sum + left) / (2 * left);
}

/// A window as the runs of its columns: cells (run.y, run.first) to (run.y, run.last).
using WindowColumns = WindowCells;

/// What sliding_kernel does on an image of 8-bit samples.
struct SlidingJob {
  using Counts = SlidingCounts;

  SelectionJob<std::uint8_t> selection;
  const std::uint16_t *samples;  ///< the image with a margin of half the window
  int stride;                    ///< of `samples`, in samples
  int height;                    ///< of a block's results

  __device__ int x0() const { return blockIdx.x * kSlidingThreads; }
  __device__ int y0() const { return blockIdx.y * height; }
  __device__ int right() const { return selection.out.width; }
  __device__ int bottom() const { return min(y0() + height, selection.out.height); }
  __device__ const std::uint16_t *at(int x, int y) const {
    return samples + std::size_t(y + selection.ry) * stride + x + selection.rx;
  }
  __device__ static unsigned level_of(unsigned sample) { return sample; }
  __device__ static void change(const Counts &counts, unsigned sample, unsigned by) {
    counts.change(sample, by);
  }
  template <SwoFilterOperator op>
  __device__ void put(int x, int y, unsigned n, const Counts &counts, SlidingSearch &search) const {
    unsigned result;
    if (n == 0)
      result = selection.in.plane.row(y)[x];
    else if constexpr (op == SwoFilterOperator::mode)
      result = mode_of(counts).level;
    else if constexpr (op == SwoFilterOperator::alpha_trimmed_mean)
      result = trimmed_mean_of(counts, n, trimmed(n, selection.alpha));
    else
      result = search
                   .at(selection.op == SwoFilterOperator::median ? n / 2
                                                                 : rank_of(n, selection.percentile))
                   .level;
    selection.out.row(y)[x] = static_cast<std::uint8_t>(result);
  }
};

/// Samples that are read before the first of them is counted.
constexpr int kSlidingAhead = 8;

/// Bytes of shared memory of a block: the ends of the runs, then the counts of the threads.
template <typename Job>
int sliding_bytes(const WindowColumns &columns) {
  return columns.n_runs * static_cast<int>(sizeof(int2)) + kSlidingThreads * Job::Counts::kBytes;
}

/// The upper and the lower ends of the runs: where the samples that leave and enter are, relative
/// to the middle. All threads of the block call it.
__device__ inline const int2 *sliding_ends(const WindowColumns &columns, int stride) {
  auto *const ends = reinterpret_cast<int2 *>(dynamic_shared_memory());
  for (int i = threadIdx.x; i < columns.n_runs; i += kSlidingThreads) {
    const Run run = columns.runs[i];
    ends[i] = int2{run.first * stride + run.y, (run.last + 1) * stride + run.y};
  }
  __syncthreads();
  return ends;
}

/// Whether each column of the window has one run.
inline bool has_column_runs(const WindowColumns &columns) {
  for (int i = 0; i < columns.n_runs; ++i)
    if (columns.runs[i].y != i - columns.ry) return false;
  return columns.n_runs == 2 * columns.ry + 1;
}

/// How a window of such columns differs from the one on its left.
struct SlidingColumns {
  const int2 *ends;  ///< see sliding_ends()
  int n_runs, stride;

  /// Calls change(sample, 1) for the samples of two columns of the window on `middle` that were not
  /// in the window one column to the left, and change(sample, -1) for those that were in that one
  /// only. The number of columns is odd.
  /// @param i  the first of both columns, -1, 1, 3, ...: in that window it is column i + 1
  template <typename Sample, typename Change>
  __device__ void move_right(int i, const Sample *middle, const Change &change) const {
    // Most ranges have one sample or none, so the first ones are read together.
    constexpr int kRanges = 8;
    int2 ranges[kRanges];
    unsigned first[kRanges];
    set_ranges(i, ranges);
    set_ranges(i + 1, ranges + kRanges / 2);
#pragma unroll
    for (int r = 0; r < kRanges; ++r)
      if (ranges[r].x < ranges[r].y) first[r] = middle[ranges[r].x];
#pragma unroll
    for (int r = 0; r < kRanges; ++r) {
      const unsigned by = r % 2 ? -1u : 1;
      if (ranges[r].x < ranges[r].y) change(first[r], by);
#pragma unroll 1
      for (int k = ranges[r].x + stride; k < ranges[r].y; k += stride) change(middle[k], by);
    }
  }

 private:
  /// Sets what enters above, leaves above, enters below and leaves below in a column.
  __device__ void set_ranges(int i, int2 *ranges) const {
    int2 now = ends[max(i, 0)], old = ends[min(i + 1, n_runs - 1)];
    --old.x, --old.y;
    if (i < 0) now = int2{old.x, old.x};
    if (i + 1 == n_runs) old = int2{now.x, now.x};
    ranges[0] = int2{now.x, min(old.x, now.y)};
    ranges[1] = int2{old.x, min(now.x, old.y)};
    ranges[2] = int2{max(old.y, now.x), now.y};
    ranges[3] = int2{max(now.y, old.x), old.y};
  }
};

/// Samples of the smallest windows for which fill_windows() is faster than counting all samples of
/// all windows; ranks of bytes are always faster.
constexpr int kFewestToFill = 1000;

/// Counts the samples of the first windows of a warp's columns. Needs has_column_runs(). The lanes
/// share the samples of the first window. Each other lane counts what makes its window different
/// from the one on its left; sums over the lanes are the windows.
/// @tparam n_words    words of each thread, kSlidingThreads apart and 0 before
/// @param middle      of this thread's window
/// @param has_window  otherwise there are no samples
/// @param change      change(sample, by) adds by times a sample to this thread's words
template <int n_words, typename Sample, typename Change>
__device__ void fill_windows(const SlidingColumns &columns, const Sample *middle, bool has_window,
                             unsigned *words, const Change &change) {
  const int lane = threadIdx.x % 32;
#pragma unroll 1
  for (int i = lane; i < columns.n_runs; i += 32) {
    const int2 run = columns.ends[i];
#pragma unroll 4
    for (int k = run.x; k < run.y; k += columns.stride) change(middle[k - lane], 1);
  }
#pragma unroll 4
  for (int i = 0; i < n_words; ++i) {
    const unsigned all = warp_sum(words[i * kSlidingThreads]);
    words[i * kSlidingThreads] = lane == 0 ? all : 0;
  }
  if (lane > 0 && has_window)
#pragma unroll 1
    for (int i = -1; i < columns.n_runs; i += 2) columns.move_right(i, middle, change);
#pragma unroll 4
  for (int i = 0; i < n_words; ++i)
    words[i * kSlidingThreads] = warp_scan(words[i * kSlidingThreads]);
}

/// A thread per column of results.
/// @tparam Job        as SlidingJob
/// @tparam is_filled  by fill_windows()
template <SwoFilterOperator op, typename Job, bool is_filled>
__global__ void __launch_bounds__(kSlidingThreads)
    sliding_kernel(const __grid_constant__ Job job, const __grid_constant__ WindowColumns columns) {
  const int2 *const ends = sliding_ends(columns, job.stride);
  const int n_runs = columns.n_runs;
  const int x = job.x0() + static_cast<int>(threadIdx.x), bottom = job.bottom();
  // All lanes of a warp that has columns fill windows.
  if (x - (is_filled ? static_cast<int>(threadIdx.x % 32) : 0) >= job.right()) return;
  auto *const words =
      reinterpret_cast<unsigned *>(dynamic_shared_memory() + n_runs * sizeof(int2)) + threadIdx.x;
  const typename Job::Counts counts(words);
  SlidingSearch search(counts);
  const auto change = [&](unsigned sample, unsigned by) {
    job.change(counts, sample, by);
    search.change(job.level_of(sample), by);
  };

  counts.clear();
  int y = job.y0();
  auto middle = job.at(x, y);
  if constexpr (is_filled) {
    fill_windows<Job::Counts::kWords + 1>(
        {ends, n_runs, job.stride}, middle, x < job.right(), words,
        [&](unsigned sample, unsigned by) { job.change(counts, sample, by); });
    if (x >= job.right()) return;
  } else {
#pragma unroll 1
    for (int i = 0; i < n_runs; ++i) {
      const auto *run = middle + ends[i].x;
      const int length = (ends[i].y - ends[i].x) / job.stride;
#pragma unroll 1
      for (int k = 0; k < length; k += kSlidingAhead) {
        unsigned enters[kSlidingAhead];
#pragma unroll
        for (int j = 0; j < kSlidingAhead; ++j)
          enters[j] = run[min(k + j, length - 1) * job.stride];
#pragma unroll
        for (int j = 0; j < kSlidingAhead; ++j)
          if (k + j < length) change(enters[j], 1);
      }
    }
  }
#pragma unroll 1
  for (;; middle += job.stride) {
    job.template put<op>(x, y, columns.count - counts.missing(), counts, search);
    if (++y == bottom) break;
    int i = 0;
    const auto step = [&]<int n>() {
      unsigned leaves[n], enters[n];
#pragma unroll
      for (int j = 0; j < n; ++j) {
        const int2 offset = ends[i + j];
        leaves[j] = middle[offset.x];
        enters[j] = middle[offset.y];
      }
#pragma unroll
      for (int j = 0; j < n; ++j) {
        change(leaves[j], -1u);
        change(enters[j], 1);
      }
      i += n;
    };
#pragma unroll 1
    while (i + kSlidingAhead <= n_runs) step.template operator()<kSlidingAhead>();
#pragma unroll 1
    while (i < n_runs) step.template operator()<1>();
  }
}

}  // namespace cudascan::swo
