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

/// Where a vector of samples lies in its plane, and how many of them are inside.
struct Place {
  int x, y, n;
};

/// A plane as vectors of 16 bytes, row by row.
template <typename T>
struct Vectors {
  static constexpr int kSamples = 16 / sizeof(T);
  static constexpr int kMagicBits = 40;

  Plane<T> plane;
  bool aligned;  ///< so that a vector is loaded or stored at once
  unsigned per_row, count;
  std::uint64_t magic;  ///< 2^kMagicBits / per_row, rounded up

  Vectors() = default;
  explicit Vectors(Plane<T> p)
      : plane(p),
        aligned((reinterpret_cast<std::uintptr_t>(p.data) | p.stride) % 16 == 0),
        per_row((p.width + kSamples - 1) / kSamples),
        count(per_row * p.height),
        magic(((std::uint64_t{1} << kMagicBits) + per_row - 1) / per_row) {}

  __device__ Place place(unsigned i) const {
    // The error of the magic number is below per_row <= 2^12 and i < 2^27: the quotient is exact.
    const auto y = static_cast<unsigned>(i * magic >> kMagicBits);
    const int x = static_cast<int>(i - y * per_row) * kSamples;
    return {x, static_cast<int>(y), min(plane.width - x, kSamples)};
  }
  /// Samples beyond the row are 0.
  __device__ uint4 load(const Place &p) const {
    const T *from = plane.row(p.y) + p.x;
    if (aligned && p.n == kSamples) return *reinterpret_cast<const uint4 *>(from);
    unsigned words[4]{};
    for (int i = 0; i < p.n; ++i)
      words[i * sizeof(T) / 4] |= static_cast<unsigned>(from[i]) << i * sizeof(T) % 4 * 8;
    return {words[0], words[1], words[2], words[3]};
  }
  __device__ void store(const Place &p, const uint4 &v) const {
    T *const to = plane.row(p.y) + p.x;
    if (aligned && p.n == kSamples) {
      *reinterpret_cast<uint4 *>(to) = v;
    } else {
      const unsigned words[4] = {v.x, v.y, v.z, v.w};
      for (int i = 0; i < p.n; ++i)
        to[i] = static_cast<T>(words[i * sizeof(T) / 4] >> i * sizeof(T) % 4 * 8);
    }
  }
  /// Half a vector, at a place of a vector of samples twice as large.
  __device__ void store_half(const Place &p, const uint2 &v) const {
    T *const to = plane.row(p.y) + p.x;
    if (aligned && p.n == kSamples / 2) {
      *reinterpret_cast<uint2 *>(to) = v;
    } else {
      const unsigned words[2] = {v.x, v.y};
      for (int i = 0; i < p.n; ++i)
        to[i] = static_cast<T>(words[i * sizeof(T) / 4] >> i * sizeof(T) % 4 * 8);
    }
  }
};

/// What lasts from launch to launch, in the executor's history, before its three histograms.
struct alignas(256) State {
  unsigned barrier;
  /// Since the start of the stream of frames; after very many some are forgotten, a multiple of 6, so
  /// that what takes turns goes on doing so.
  unsigned launches;

  static constexpr unsigned kMostLaunches = 3u << 30;

  static std::size_t bytes(int levels) {
    return sizeof(State) + 3 * sizeof(std::uint32_t) * static_cast<std::size_t>(levels);
  }
  /// Histogram of the launch with this number.
  __device__ std::uint32_t *counts(unsigned launch, int levels) {
    return reinterpret_cast<std::uint32_t *>(this + 1) +
           static_cast<std::size_t>(launch % 3) * levels;
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
  CountJob(Plane<const T> plane, const HistogramParams &params, State *state)
      : in(plane), levels(Levels::of(plane.maximum)), state(state) {
    const Rectangle &roi = params.roi;
    lowest = params.ignore_black ? 1 : 0;
    highest = levels.count - (params.ignore_white ? 2 : 1);
    x0 = std::min(roi.x, plane.width);
    y0 = std::min(roi.y, plane.height);
    x1 = roi.width ? x0 + std::min(roi.width, plane.width - x0) : plane.width;
    y1 = roi.height ? y0 + std::min(roi.height, plane.height - y0) : plane.height;
    whole = x0 == 0 && y0 == 0 && x1 == plane.width && y1 == plane.height;
  }
};

/// The share of a block of the image, and the vectors of it that its threads keep.
template <typename T, typename Counters>
class Share {
 public:
  using Vector = Vectors<const T>;
  static constexpr int kKept = Counters::kVectors;

  __device__ explicit Share(const CountJob<T> &job) : job_(job) {
    const std::uint64_t n = job.in.count;
    begin_ = static_cast<unsigned>(n * blockIdx.x / gridDim.x);
    end_ = static_cast<unsigned>(n * (blockIdx.x + 1) / gridDim.x);
  }

  /// Counts the share into `counts` in device memory; all threads of the block call it.
  __device__ void count(Counters &counters, std::uint32_t *counts) {
    for (unsigned first = begin_;; first += kKept * blockDim.x) {
      uint4 v[kKept];
#pragma unroll
      for (int j = 0; j < kKept; ++j) {
        const unsigned i = first + j * blockDim.x + threadIdx.x;
        if (i < end_) v[j] = job_.in.load(job_.in.place(i));
      }
#pragma unroll
      for (int j = 0; j < kKept; ++j) {
        const unsigned i = first + j * blockDim.x + threadIdx.x;
        if (i >= end_) break;
        const Place p = job_.in.place(i);
        if (job_.whole && p.n == Vector::kSamples)
          counters.add(v[j]);
        else if (p.y >= job_.y0 && p.y < job_.y1)
          counters.add(v[j], max(job_.x0 - p.x, 0), min(job_.x1 - p.x, p.n));
      }
      if (first == begin_) {
#pragma unroll
        for (int j = 0; j < kKept; ++j) kept_[j] = v[j];
      }
      const bool last = end_ - first <= kKept * blockDim.x;
      counters.collect(last, [&](int level, unsigned n) {
        if (n > 0 && level >= job_.lowest && level <= job_.highest) atomicAdd(counts + level, n);
      });
      if (last) break;
    }
  }

  /// Calls f(place, vector) for each vector of this thread.
  template <typename F>
  __device__ void for_each(F f) const {
#pragma unroll
    for (int j = 0; j < kKept; ++j) {
      const unsigned i = begin_ + j * blockDim.x + threadIdx.x;
      if (i >= end_) break;
      f(job_.in.place(i), kept_[j]);
    }
#pragma unroll 2
    for (unsigned i = begin_ + kKept * blockDim.x + threadIdx.x; i < end_; i += blockDim.x) {
      const Place p = job_.in.place(i);
      f(p, job_.in.load(p));
    }
  }

 private:
  const CountJob<T> &job_;
  unsigned begin_, end_;
  uint4 kept_[kKept];
};

/// The head of such a kernel: the histogram of the image, when all blocks have added to it.
/// @return the number of this launch
template <typename T, typename Counters>
__device__ unsigned count_image(const CountJob<T> &job, Counters &counters,
                                Share<T, Counters> &share) {
  counters.clear();
  let_next_kernel_start();
  wait_for_kernels_before();
  __syncthreads();
  State &state = *job.state;
  const int levels = job.levels.count;
  const unsigned launch = state.launches;
  std::uint32_t *const next = state.counts(launch + 1, levels);
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < static_cast<unsigned>(levels);
       i += gridDim.x * blockDim.x)
    next[i] = 0;
  share.count(counters, state.counts(launch, levels));
  wait_for_all_blocks(&state.barrier);
  if (blockIdx.x == 0 && threadIdx.x == 0)
    state.launches = launch + 1 < State::kMostLaunches ? launch + 1 : 6;
  return launch;
}

}  // namespace cudascan::histogram
