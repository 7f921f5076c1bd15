// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Order statistics of windows of any shape of 8-bit samples, or of bins of 16-bit samples. A
/// thread moves the window of one column of results down the image and keeps its histogram in
/// shared memory: a step down removes the upper end and adds the lower one of each run of cells in
/// a column of the window (Huang, Yang, Tang, "A fast two-dimensional median filtering algorithm",
/// IEEE Trans. ASSP 27(1), 1979). Counts of neighbouring threads are neighbours, so there are no
/// bank conflicts.
#pragma once
#include "kernels/base/ptx.cuh"
#include "kernels/swofilter/rank/selection.cuh"

namespace cudascan::swo {

constexpr int kMostSlidingThreads = 128;
constexpr int kSlidingLevels = 256;

/// A sample of an image of 8 bits, or none.
struct SlidingLevel {
  int level;  // -1 for none

  __device__ bool operator==(const SlidingLevel &other) const { return level == other.level; }
};

/// The histogram of a thread's window. A word has the counts of an even level and the next.
class SlidingCounts {
 public:
  static constexpr int kWords = kSlidingLevels / 2;
  static constexpr int kBytes = 4 * kWords;  ///< of shared memory for a thread

  /// @param words  of this thread, `threads` apart
  __device__ SlidingCounts(unsigned *words, int threads) : words_(words), threads_(threads) {}

  __device__ void clear() const {
    for (int i = 0; i < kWords; ++i) words_[i * threads_] = 0;
  }
  /// Adds a sample, or removes it with by = -1. Only this thread uses the word: the atomic
  /// operation saves waiting for the old count.
  __device__ void change(SlidingLevel sample, unsigned by) const {
    atomicAdd(words_ + (sample.level >> 1) * threads_, by << (sample.level % 2 * 16));
  }
  __device__ unsigned even(int i) const { return words_[i * threads_] & 0xffff; }
  __device__ unsigned odd(int i) const { return words_[i * threads_] >> 16; }
  __device__ unsigned both(int i) const { return even(i) + odd(i); }

 private:
  unsigned *words_;
  int threads_;
};

/// Level and number among the equal samples of a sample.
struct LevelAndRest {
  unsigned level, rest;
};

/// Finds samples by their number. The search begins where the last one ended, because windows of
/// neighbours are similar.
class SlidingSearch {
 public:
  __device__ explicit SlidingSearch(const SlidingCounts &counts) : counts_(counts) {}

  /// To be called for each sample that is added, or removed with by = -1.
  __device__ void change(unsigned level, unsigned by) {
    if (level < 2 * static_cast<unsigned>(word_)) below_ += by;
  }
  __device__ LevelAndRest at(unsigned rank) {
    while (rank < below_) below_ -= counts_.both(--word_);
    for (unsigned n; rank >= below_ + (n = counts_.both(word_)); ++word_) below_ += n;
    const unsigned rest = rank - below_, even = counts_.even(word_), level = 2 * word_;
    return rest < even ? LevelAndRest{level, rest} : LevelAndRest{level + 1, rest - even};
  }

 private:
  const SlidingCounts &counts_;
  int word_ = 0;
  unsigned below_ = 0;  ///< samples in the words before word_
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
  int height;  // of a block's results

  __device__ int x0() const { return blockIdx.x * blockDim.x; }
  __device__ int y0() const { return blockIdx.y * height; }
  __device__ int width() const { return selection.out.width; }
  __device__ int bottom() const { return min(y0() + height, selection.out.height); }
  /// Whether all windows of the block are in the image; then inner() replaces sample().
  __device__ bool is_inner() const {
    return x0() >= selection.rx && x0() + int(blockDim.x) + selection.rx <= width() &&
           y0() >= selection.ry && bottom() + selection.ry <= selection.out.height;
  }
  __device__ SlidingLevel inner(int x, int y) const { return {selection.in.plane.row(y)[x]}; }
  __device__ SlidingLevel sample(int x, int y) const {
    int level = -1;
    selection.in.visit(x, y, [&](unsigned sample) { level = static_cast<int>(sample); });
    return {level};
  }
  template <SwoFilterOperator op>
  __device__ void put(int x, int y, unsigned n, const SlidingCounts &counts,
                      SlidingSearch &search) const {
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

/// Moves the window of a thread down.
template <SwoFilterOperator op, bool inner, typename Job>
__device__ void slide_down(const Job &job, const WindowColumns &columns,
                           const typename Job::Counts &counts) {
  const int x = job.x0() + static_cast<int>(threadIdx.x), y0 = job.y0(), y1 = job.bottom();
  const auto sample = [&](int x, int y) { return inner ? job.inner(x, y) : job.sample(x, y); };
  SlidingSearch search(counts);
  unsigned n = 0;
  const auto change = [&](const auto &sample, unsigned by) {
    if (sample.level < 0) return;
    counts.change(sample, by);
    search.change(sample.level, by);
    n += by;
  };
  // Some samples are read before the first one is counted.
  constexpr int kAhead = 4;
  for (int i = 0; i < columns.n_runs; ++i) {
    const Run run = columns.runs[i];
#pragma unroll 1
    for (int first = run.first; first <= run.last; first += kAhead) {
      decltype(sample(0, 0)) enters[kAhead];
#pragma unroll
      for (int k = 0; k < kAhead; ++k)
        enters[k] = sample(x + run.y, y0 + min(first + k, int{run.last}));
#pragma unroll
      for (int k = 0; k < kAhead; ++k)
        if (first + k <= run.last) change(enters[k], 1);
    }
  }
#pragma unroll 1
  for (int y = y0;; ++y) {
    job.template put<op>(x, y, n, counts, search);
    if (y + 1 == y1) break;
#pragma unroll 1
    for (int first = 0; first < columns.n_runs; first += kAhead) {
      decltype(sample(0, 0)) leaves[kAhead], enters[kAhead];
#pragma unroll
      for (int k = 0; k < kAhead; ++k) {
        const Run run = columns.runs[min(first + k, columns.n_runs - 1)];
        leaves[k] = sample(x + run.y, y + run.first);
        enters[k] = sample(x + run.y, y + 1 + run.last);
      }
#pragma unroll
      for (int k = 0; k < kAhead; ++k) {
        if (first + k >= columns.n_runs || leaves[k] == enters[k]) continue;
        change(leaves[k], -1u);
        change(enters[k], 1);
      }
    }
  }
}

/// A thread per column of results.
/// @tparam Job  as SlidingJob
template <SwoFilterOperator op, typename Job>
__global__ void __launch_bounds__(kMostSlidingThreads)
    sliding_kernel(const __grid_constant__ Job job, const __grid_constant__ WindowColumns columns) {
  const typename Job::Counts counts(
      reinterpret_cast<unsigned *>(dynamic_shared_memory()) + threadIdx.x, blockDim.x);
  if (job.x0() + static_cast<int>(threadIdx.x) >= job.width()) return;
  counts.clear();
  if (job.is_inner())
    slide_down<op, true>(job, columns, counts);
  else
    slide_down<op, false>(job, columns, counts);
}

}  // namespace cudascan::swo
