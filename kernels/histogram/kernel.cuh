// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The histogram that several operators begin with, in one launch with what they do with it: all
/// blocks run at the same time, each counts its share of the image and adds that to the histogram in
/// device memory, and when all have met, each finds by itself what follows from the histogram and
/// applies it to its share. The samples are still in its shared memory then, where they have room.
///
/// What lasts from launch to launch is a State: three histograms that take turns, of this launch,
/// of the one before and of the next, which this one sets to zero.
#pragma once
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "kernels/base/cuda_check.cuh"
#include "kernels/base/ptx.cuh"
#include "kernels/histogram/counters.cuh"
#include "kernels/histogram/grid.cuh"
#include "kernels/histogram/roi.h"

namespace cudascan::histogram {

/// Where a vector of samples lies in its plane, or one sample.
struct Place {
  int x, y;
  bool one;
};

/// A plane as vectors of 16 bytes, row by row, and single samples: what is over at the end of each row,
/// or all, if vectors cannot be loaded and stored at once.
template <typename T>
struct Vectors {
  static constexpr int kSamples = 16 / sizeof(T);
  static constexpr int kMagicBits = 40;

  Plane<T> plane;
  unsigned per_row, count;
  std::uint64_t magic;  ///< 2^kMagicBits / per_row, rounded up

  Vectors() = default;
  Vectors(Plane<T> p, bool aligned)
      : plane(p), per_row(aligned ? p.width / kSamples : 0), count(per_row * p.height) {
    if (per_row > 0) magic = ((std::uint64_t{1} << kMagicBits) + per_row - 1) / per_row;
  }

  /// The samples from this column on are single ones.
  __device__ int rest() const { return static_cast<int>(per_row) * kSamples; }
  __device__ Place place(unsigned i) const {
    // The error of the magic number is below per_row <= 2^12 and i < 2^27: the quotient is exact.
    const auto y = static_cast<unsigned>(i * magic >> kMagicBits);
    return {static_cast<int>(i - y * per_row) * kSamples, static_cast<int>(y), false};
  }
  /// Calls f(place) for n vectors from number i on, each `step` after the one before.
  template <typename F>
  __device__ void walk(unsigned i, unsigned step, int n, const F &f) const {
    // Additions cost less than place().
    const Place by = place(step);
    Place p = place(i);
#pragma unroll 2
    for (int j = 0; j < n; ++j) {
      f(p, j);
      p.x += by.x;
      p.y += by.y;
      if (p.x >= rest()) {
        p.x -= rest();
        ++p.y;
      }
    }
  }
  __device__ const uint4 *address(const Place &p) const {
    return reinterpret_cast<const uint4 *>(plane.row(p.y) + p.x);
  }
};

/// Whether a plane's rows begin at multiples of so many bytes.
template <typename T>
bool is_aligned(const Plane<T> &p, unsigned bytes) {
  return (reinterpret_cast<std::uintptr_t>(p.data) | p.stride) % bytes == 0;
}

/// Stores a vector, or its first sample.
template <typename T>
__device__ void store(const Plane<T> &plane, const Place &p, const uint4 &v) {
  T *const to = plane.row(p.y) + p.x;
  if (p.one)
    *to = static_cast<T>(v.x);
  else
    *reinterpret_cast<uint4 *>(to) = v;
}

/// The same with samples of half the size.
inline __device__ void store_half(const Plane<std::uint8_t> &plane, const Place &p,
                                  const uint2 &v) {
  std::uint8_t *const to = plane.row(p.y) + p.x;
  if (p.one)
    *to = static_cast<std::uint8_t>(v.x);
  else
    *reinterpret_cast<uint2 *>(to) = v;
}

/// What lasts from launch to launch, in the executor's history, before its three histograms, each of
/// which may be in several copies. Behind them there may be tables of the blocks.
struct alignas(256) State {
  unsigned barrier;
  /// Since the start of the stream of frames; after very many some are forgotten, a multiple of 6, so
  /// that what takes turns goes on doing so.
  unsigned launches;

  static constexpr unsigned kMostLaunches = 3u << 30;

  /// @param counts  levels times copies
  /// @param tables  vectors of all tables
  static std::size_t bytes(int counts, std::size_t tables) {
    return sizeof(State) + 3 * sizeof(std::uint32_t) * rounded(counts) + tables * sizeof(uint4);
  }
  /// The histogram of the launch with this number, all copies.
  __device__ std::uint32_t *counts(unsigned launch, int counts) {
    return reinterpret_cast<std::uint32_t *>(this + 1) + launch % 3 * rounded(counts);
  }
  __device__ uint4 *tables(int counts) {
    return reinterpret_cast<uint4 *>(reinterpret_cast<std::uint32_t *>(this + 1) +
                                     3 * rounded(counts));
  }

 private:
  CUDASCAN_HD static std::size_t rounded(int counts) {
    return (static_cast<std::size_t>(counts) + 3) / 4 * 4;
  }
};

/// A finished histogram in device memory: the sum of its copies.
struct Counts {
  const std::uint32_t *copies;
  int levels, n;

  __device__ std::uint32_t operator[](int level) const {
    std::uint32_t sum = 0;
#pragma unroll 8
    for (int i = 0; i < n; ++i) sum += copies[i * levels + level];
    return sum;
  }
};

/// What is counted.
template <typename T>
struct CountJob {
  Vectors<const T> in;
  Levels levels;
  int lowest, highest;  ///< level that counts
  int x0, x1, y0, y1;   ///< the region of interest: columns and rows from, and before
  State *state;

  CountJob() = default;
  /// @param aligned  so that vectors can be loaded, and stored to where they go
  CountJob(Plane<const T> plane, const HistogramParams &params, bool aligned, State *state)
      : in(plane, aligned), levels(Levels::of(plane.maximum)), state(state) {
    const Rectangle part = clip_to_plane(params.roi, plane.width, plane.height);
    lowest = params.ignore_black ? 1 : 0;
    highest = levels.count - (params.ignore_white ? 2 : 1);
    x0 = part.x;
    y0 = part.y;
    x1 = part.x + part.width;
    y1 = part.y + part.height;
  }
};

/// Vectors that the threads of a block bring into shared memory, each those that it will read itself.
template <int kMost, int kThreads>
class KeptVectors {
 public:
  static constexpr int kBytes = kMost * kThreads * 16;
  static constexpr int kGroup = 2;  ///< so many come together
  static_assert(kMost % kGroup == 0);

  /// @param memory  kBytes of shared memory
  __device__ explicit KeptVectors(unsigned char *memory)
      : mine_(reinterpret_cast<uint4 *>(memory) + threadIdx.x) {}

  /// Starts to bring vector number j, with the others of its group one after another.
  /// @param from  nullptr: there is none
  __device__ void bring(int j, const void *from) const {
    if (from) copy_async(shared_address(mine_ + j * kThreads), from);
    if (j % kGroup == kGroup - 1) commit_copies();
  }
  /// Waits for the group that begins with number j, of n that this thread was called with.
  __device__ void wait_for(int j, int n) const {
    wait_until(n / kGroup - j / kGroup - 1, std::make_integer_sequence<int, kMostCounted>());
  }
  /// One that has come.
  __device__ uint4 operator[](int j) const { return mine_[j * kThreads]; }

 private:
  static constexpr int kMostCounted = 8;

  /// Returns when so many groups are under way at most.
  template <int... i>
  static __device__ void wait_until(int groups, std::integer_sequence<int, i...>) {
    ((min(groups, kMostCounted - 1) == i ? wait_for_copies<i>() : void()), ...);
  }

  uint4 *mine_;
};

/// The share of a block of the image: vectors, the first of which are kept in shared memory, and single
/// samples. All blocks have vectors in every part of the image, so that they get them at the same time:
/// the last one says when all can go on.
template <typename T, typename Counters>
class Share {
 public:
  static constexpr int kThreads = Counters::kThreads;
  using Kept = KeptVectors<Counters::kKept, kThreads>;
  static constexpr int kBytes = Kept::kBytes;

  /// @param memory  kBytes of shared memory
  __device__ Share(const CountJob<T> &job, unsigned char *memory)
      : job_(job),
        kept_(memory),
        begin_(blockIdx.x * kThreads + threadIdx.x),
        step_(gridDim.x * kThreads) {
    const unsigned rounds = job.in.count / step_, rest = job.in.count % step_;
    n_ = static_cast<int>(rounds + (begin_ < rest ? 1 : 0));
    most_ = static_cast<int>(rounds + (begin_ - threadIdx.x < rest ? 1 : 0));
  }

  /// Starts to bring the vectors to keep.
  __device__ void load() const {
    job_.in.walk(begin_, step_, kept_groups(), [&](const Place &p, int j) {
      kept_.bring(j, j < n_ ? job_.in.address(p) : nullptr);
    });
  }

  /// Counts the share after load(); all threads of the block call it. `emit` is as for Counters.
  template <typename Emit>
  __device__ void count(Counters &counters, const Emit &emit) const {
    constexpr int kVector = Vectors<const T>::kSamples;
    const Plane<const T> &plane = job_.in.plane;
    const bool all =
        job_.x0 == 0 && job_.x1 >= job_.in.rest() && job_.y0 == 0 && job_.y1 == plane.height;
    const auto counts = [&](int j) {
      if (j >= n_) return false;
      if (all) return true;
      const Place p = place(j);
      return p.x >= job_.x0 && p.x + kVector <= job_.x1 && p.y >= job_.y0 && p.y < job_.y1;
    };
    Adding adding(counters, emit);
    constexpr int kGroup = Kept::kGroup;
#pragma unroll 1
    for (int j = 0; j < min(most_, Counters::kKept); j += kGroup) {
      kept_.wait_for(j, kept_groups());
      adding.template add<kGroup>([&](int i) {
        return counts(j + i) ? Samples{kept_[j + i], kVector} : Samples{};
      });
    }
#pragma unroll 1
    for (int j = Counters::kKept; j < most_; j += kBatch)
      adding.template add<kBatch>([&](int i) {
        return counts(j + i) ? Samples{*job_.in.address(place(j + i)), kVector} : Samples{};
      });

    // Single samples: those left and right in the region that are in no vector that is all inside.
    const int vectors_begin = (job_.x0 + kVector - 1) / kVector * kVector;
    const int vectors_end = min(job_.x1 / kVector * kVector, job_.in.rest());
    const bool vectors = vectors_begin < vectors_end;
    const int left = vectors ? vectors_begin - job_.x0 : 0;
    const int right_begin = vectors ? vectors_end : job_.x0;
    const int each = left + job_.x1 - right_begin;
    const std::int64_t samples = std::int64_t{each} * (job_.y1 - job_.y0);
#pragma unroll 1
    for (std::int64_t from = 0; from < samples;
         from += std::int64_t{Counters::kTogether} * kVector * step_) {
      std::int64_t next = from + begin_;
      adding.template add<Counters::kTogether>([&](int) {
        return pack_samples<T>([&](T &sample) {
          if (next >= samples) return false;
          const int y = static_cast<int>(next / each), at = static_cast<int>(next % each);
          sample = plane.row(job_.y0 + y)[at < left ? job_.x0 + at : right_begin + at - left];
          next += step_;
          return true;
        });
      });
    }
    adding.finish();
  }

  /// Calls f(place, vector) for the vectors and single samples of this thread. A single sample is the
  /// first of a vector.
  template <typename F>
  __device__ void for_each(const F &f) const {
    job_.in.walk(begin_, step_, min(Counters::kKept, n_),
                 [&](const Place &p, int j) { f(p, kept_[j]); });
#pragma unroll 1
    for (int done = Counters::kKept; done < n_; done += kBatch) {
      uint4 v[kBatch];
#pragma unroll
      for (int k = 0; k < kBatch; ++k)
        if (done + k < n_) v[k] = *job_.in.address(place(done + k));
#pragma unroll
      for (int k = 0; k < kBatch; ++k)
        if (done + k < n_) f(place(done + k), v[k]);
    }
    const Plane<const T> &plane = job_.in.plane;
    const int rest = job_.in.rest(), each = plane.width - rest;
    if (each == 0) return;
    const std::int64_t samples = std::int64_t{each} * plane.height;
#pragma unroll 1
    for (std::int64_t i = begin_; i < samples; i += step_) {
      const int x = rest + static_cast<int>(i % each), y = static_cast<int>(i / each);
      f({x, y, true}, uint4{plane.row(y)[x], 0, 0, 0});
    }
  }

 private:
  static constexpr int kBatch = 4;  // vectors that are loaded at once

  __device__ Place place(int j) const {
    return job_.in.place(begin_ + j * step_);
  }
  /// How many of most_ are kept, and what fills their last group.
  __device__ int kept_groups() const {
    return (min(most_, Counters::kKept) + Kept::kGroup - 1) / Kept::kGroup * Kept::kGroup;
  }

  const CountJob<T> &job_;
  Kept kept_;
  unsigned begin_, step_;  // the first vector of this thread, and how far it is to the next
  int n_, most_;           // vectors of this thread, and of the block's first
};

/// Adds up what all blocks have in their tables; each block does some levels.
/// @param tables  of the blocks, one behind the other
/// @param emit    emit(level, n), once for each level
/// @param memory  32 bytes for each thread
template <int kThreads, typename Emit>
__device__ void sum_up_tables(const uint4 *tables, const Levels &levels, unsigned char *memory,
                              const Emit &emit) {
  // Of so many vectors side by side each part of the threads adds up some tables.
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

/// What such a kernel begins with.
struct Head {
  unsigned launch;      ///< number of this launch
  Counts counts;        ///< of this launch
  Counts before;        ///< of the launch before
  GridBarrier barrier;  ///< where the blocks have met
};

/// Counts the image; returns when all blocks have.
/// @param memory  of the counters
template <typename T, typename Counters>
__device__ Head count_image(const CountJob<T> &job, Counters &counters, Share<T, Counters> &share,
                            unsigned char *memory) {
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
