// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The histogram that several operators begin with, in one launch with what they do with it: all
/// blocks run at the same time, each counts its share of the image and adds that to the histogram in
/// device memory, and when all have met, each finds by itself what follows from the histogram and
/// applies it to its share. The samples are still in its registers then, where they have room.
///
/// What lasts from launch to launch is a State: three histograms that take turns, of this launch,
/// of the one before and of the next, which this one sets to zero.
#pragma once
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "kernels/counters.cuh"
#include "kernels/cuda_check.cuh"
#include "kernels/grid.cuh"
#include "kernels/histogram.h"
#include "kernels/ptx.cuh"

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
  __device__ uint4 load(const Place &p) const {
    return *reinterpret_cast<const uint4 *>(plane.row(p.y) + p.x);
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
/// which may be in several copies.
struct alignas(256) State {
  unsigned barrier;
  /// Since the start of the stream of frames; after very many some are forgotten, a multiple of 6, so
  /// that what takes turns goes on doing so.
  unsigned launches;

  static constexpr unsigned kMostLaunches = 3u << 30;

  static std::size_t bytes(int counts) {
    return sizeof(State) + 3 * sizeof(std::uint32_t) * static_cast<std::size_t>(counts);
  }
  /// The histogram of the launch with this number, all copies.
  /// @param counts  levels times copies
  __device__ std::uint32_t *counts(unsigned launch, int counts) {
    return reinterpret_cast<std::uint32_t *>(this + 1) +
           static_cast<std::size_t>(launch % 3) * counts;
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
  bool whole;           ///< it is the plane
  State *state;

  CountJob() = default;
  /// @param aligned  so that vectors can be loaded, and stored to where they go
  CountJob(Plane<const T> plane, const HistogramParams &params, bool aligned, State *state)
      : in(plane, aligned), levels(Levels::of(plane.maximum)), state(state) {
    const Rectangle &roi = params.roi;
    lowest = params.ignore_black ? 1 : 0;
    highest = levels.count - (params.ignore_white ? 2 : 1);
    x0 = std::min(roi.x, plane.width);
    y0 = std::min(roi.y, plane.height);
    x1 = roi.width ? x0 + std::min(roi.width, plane.width - x0) : plane.width;
    y1 = roi.height ? y0 + std::min(roi.height, plane.height - y0) : plane.height;
  }
};

/// The share of a block of the image: vectors, of which its threads keep the first, and single samples.
template <typename T, typename Counters>
class Share {
 public:
  static constexpr int kKept = Counters::kVectors;

  __device__ explicit Share(const CountJob<T> &job) : job_(job) {
    const std::uint64_t n = job.in.count;
    begin_ = static_cast<unsigned>(n * blockIdx.x / gridDim.x) + threadIdx.x;
    end_ = static_cast<unsigned>(n * (blockIdx.x + 1) / gridDim.x);
  }

  /// Starts to bring the vectors to keep.
  __device__ void load() {
#pragma unroll
    for (int j = 0; j < kKept; ++j) {
      const unsigned i = begin_ + j * Counters::kThreads;
      if (i >= end_) break;
      kept_[j] = job_.in.load(job_.in.place(i));
    }
  }

  /// Counts the share after load(); all threads of the block call it. `emit` is as for
  /// Counters::collect().
  template <typename Emit>
  __device__ void count(Counters &counters, const Emit &emit) const {
    constexpr int kVector = Vectors<const T>::kSamples;
    const bool all_columns = job_.x0 == 0 && job_.x1 >= job_.in.rest();
    const bool all = all_columns && job_.y0 == 0 && job_.y1 == job_.in.plane.height;
    const auto counts = [&](unsigned i) {
      const Place p = job_.in.place(i);
      return p.x >= job_.x0 && p.x + kVector <= job_.x1 && p.y >= job_.y0 && p.y < job_.y1;
    };
#pragma unroll
    for (int j = 0; j < kKept; ++j) {
      const unsigned i = begin_ + j * Counters::kThreads;
      if (i >= end_) break;
      if (all || counts(i)) counters.add(kept_[j]);
    }
    // Of the rest of the vectors as many again.
    constexpr unsigned kRound = kKept * Counters::kThreads;
    const unsigned first = begin_ - threadIdx.x;
    const unsigned rounds = end_ > first ? (end_ - first + kRound - 1) / kRound : 0;
    // Single samples: those left and right in the region that are in no vector that is all inside.
    const int vectors_begin = (job_.x0 + kVector - 1) / kVector * kVector;
    const int vectors_end = min(job_.x1 / kVector * kVector, job_.in.rest());
    const bool vectors = vectors_begin < vectors_end;
    const int left = vectors ? vectors_begin - job_.x0 : 0;
    const int right_begin = vectors ? vectors_end : job_.x0, right = job_.x1 - right_begin;
    const int each = left + right;
    const std::int64_t samples = std::int64_t{each} * (job_.y1 - job_.y0);
    const std::int64_t step = std::int64_t{gridDim.x} * Counters::kThreads;
    const std::int64_t samples_round = step * Counters::kSamples;
    if (samples == 0 && rounds <= 1) {
      counters.collect(true, emit);
      return;
    }
    counters.collect(false, emit);
    for (unsigned round = 1; round < rounds; ++round) {
#pragma unroll 1
      for (int j = 0; j < kKept; ++j) {
        const unsigned i = begin_ + round * kRound + j * Counters::kThreads;
        if (i >= end_) break;
        if (all || counts(i)) counters.add(job_.in.load(job_.in.place(i)));
      }
      counters.collect(samples == 0 && round + 1 == rounds, emit);
    }
    for (std::int64_t done = 0; done < samples; done += samples_round) {
      const std::int64_t end = min(samples, done + samples_round);
      for (std::int64_t i = done + blockIdx.x * Counters::kThreads + threadIdx.x; i < end;
           i += step) {
        const int y = static_cast<int>(i / each), at = static_cast<int>(i % each);
        const int x = at < left ? job_.x0 + at : right_begin + at - left;
        counters.add(job_.in.plane.row(job_.y0 + y)[x]);
      }
      counters.collect(end == samples, emit);
    }
  }

  /// Calls f(place, vector) for the vectors and single samples of this thread. A single sample is the
  /// first of a vector.
  template <typename F>
  __device__ void for_each(F f) const {
#pragma unroll
    for (int j = 0; j < kKept; ++j) {
      const unsigned i = begin_ + j * Counters::kThreads;
      if (i >= end_) break;
      f(job_.in.place(i), kept_[j]);
    }
#pragma unroll 1
    for (unsigned i = begin_ + kKept * Counters::kThreads; i < end_; i += Counters::kThreads) {
      const Place p = job_.in.place(i);
      f(p, job_.in.load(p));
    }
    const Plane<const T> &plane = job_.in.plane;
    const int rest = job_.in.rest(), each = plane.width - rest;
    if (each == 0) return;
    const std::int64_t samples = std::int64_t{each} * plane.height;
#pragma unroll 1
    for (std::int64_t i = blockIdx.x * Counters::kThreads + threadIdx.x; i < samples;
         i += gridDim.x * Counters::kThreads) {
      const int x = rest + static_cast<int>(i % each), y = static_cast<int>(i / each);
      f({x, y, true}, uint4{plane.row(y)[x], 0, 0, 0});
    }
  }

 private:
  const CountJob<T> &job_;
  unsigned begin_, end_;  // begin_ is this thread's
  uint4 kept_[kKept];
};

/// What such a kernel begins with.
struct Head {
  unsigned launch;  ///< number of this launch
  Counts counts;    ///< of this launch
  Counts before;    ///< of the launch before
};

/// Counts the image; returns when all blocks have.
template <typename T, typename Counters>
__device__ Head count_image(const CountJob<T> &job, Counters &counters, Share<T, Counters> &share) {
  let_next_kernel_start();
  wait_for_kernels_before();
  share.load();
  State &state = *job.state;
  const unsigned launch = state.launches;
  counters.clear();
  __syncthreads();
  const int levels = job.levels.count, all = levels * Counters::kCopies;
  std::uint32_t *const counts = state.counts(launch, all);
  std::uint32_t *const mine = counts + blockIdx.x % Counters::kCopies * levels;
  share.count(counters, [&](int level, unsigned n) {
    if (n > 0 && level >= job.lowest && level <= job.highest) atomicAdd(mine + level, n);
  });
  std::uint32_t *const next = state.counts(launch + 1, all);
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < static_cast<unsigned>(all);
       i += gridDim.x * blockDim.x)
    next[i] = 0;
  wait_for_all_blocks(&state.barrier);
  if (blockIdx.x == 0 && threadIdx.x == 0)
    state.launches = launch + 1 < State::kMostLaunches ? launch + 1 : 6;
  return {launch,
          {counts, levels, Counters::kCopies},
          {state.counts(launch + 2, all), levels, Counters::kCopies}};
}

/// Copies a histogram; all blocks call it.
__device__ inline void copy_counts(const Counts &from, std::uint32_t *to) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < static_cast<unsigned>(from.levels);
       i += gridDim.x * blockDim.x)
    to[i] = from[static_cast<int>(i)];
}

}  // namespace cudascan::histogram
