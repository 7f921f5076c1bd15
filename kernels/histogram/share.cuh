// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// A block's share of the image that is counted.
#pragma once
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "kernels/base/ptx.cuh"
#include "kernels/histogram/count_job.cuh"
#include "kernels/histogram/counters/samples.cuh"

namespace cudascan::histogram {

/// Vectors that the threads of a block copy into shared memory. Each thread copies the vectors that
/// it will read itself.
template <int kMost, int kThreads>
class KeptVectors {
 public:
  static constexpr int kBytes = kMost * kThreads * 16;
  static constexpr int kGroup = 2;  ///< vectors that are copied together
  static_assert(kMost % kGroup == 0);

  /// @param memory  kBytes of shared memory
  __device__ explicit KeptVectors(unsigned char *memory)
      : mine_(reinterpret_cast<uint4 *>(memory) + threadIdx.x) {}

  /// Starts to copy vector number j. The vectors of a group are passed one after another.
  /// @param from  nullptr if there is none
  __device__ void bring(int j, const void *from) const {
    if (from) copy_async(shared_address(mine_ + j * kThreads), from);
    if (j % kGroup == kGroup - 1) commit_copies();
  }
  /// Waits for the group that begins with number j, of n that this thread was called with.
  __device__ void wait_for(int j, int n) const {
    wait_until(n / kGroup - j / kGroup - 1, std::make_integer_sequence<int, kMostCounted>());
  }
  /// A vector that has been copied.
  __device__ uint4 operator[](int j) const { return mine_[j * kThreads]; }

 private:
  static constexpr int kMostCounted = 8;

  /// Waits until at most this number of groups is still being copied.
  template <int... i>
  static __device__ void wait_until(int groups, std::integer_sequence<int, i...>) {
    ((min(groups, kMostCounted - 1) == i ? wait_for_copies<i>() : void()), ...);
  }

  uint4 *mine_;
};

/// A block's share of the image: vectors, the first of which are kept in shared memory, and single
/// samples. Each block has vectors in every part of the image. So all blocks finish loading at
/// about the same time, which matters because they wait for the last one.
template <typename T, typename Counters>
class BlockShare {
 public:
  static constexpr int kThreads = Counters::kThreads;
  using Kept = KeptVectors<Counters::kKept, kThreads>;
  static constexpr int kBytes = Kept::kBytes;

  /// @param memory  kBytes of shared memory
  __device__ BlockShare(const CountJob<T> &job, unsigned char *memory)
      : job_(job),
        kept_(memory),
        begin_(blockIdx.x * kThreads + threadIdx.x),
        step_(gridDim.x * kThreads) {
    const unsigned rounds = job.in.count / step_, rest = job.in.count % step_;
    n_ = static_cast<int>(rounds + (begin_ < rest ? 1 : 0));
    most_ = static_cast<int>(rounds + (begin_ - threadIdx.x < rest ? 1 : 0));
  }

  /// Starts to copy the vectors to keep.
  __device__ void load() const {
    job_.in.walk(begin_, step_, kept_groups(), [&](const VectorPlace &p, int j) {
      kept_.bring(j, j < n_ ? job_.in.address(p) : nullptr);
    });
  }

  /// Counts the share after load(); all threads of the block call it. `emit` is as for Counters.
  template <typename Emit>
  __device__ void count(Counters &counters, const Emit &emit) const {
    constexpr int kVector = PlaneVectors<const T>::kSamples;
    const Plane<const T> &plane = job_.in.plane;
    const bool all =
        job_.x0 == 0 && job_.x1 >= job_.in.rest() && job_.y0 == 0 && job_.y1 == plane.height;
    const auto counts = [&](int j) {
      if (j >= n_) return false;
      if (all) return true;
      const VectorPlace p = place(j);
      return p.x >= job_.x0 && p.x + kVector <= job_.x1 && p.y >= job_.y0 && p.y < job_.y1;
    };
    Adding adding(counters, emit);
    constexpr int kGroup = Kept::kGroup;
#pragma unroll 1
    for (int j = 0; j < min(most_, Counters::kKept); j += kGroup) {
      kept_.wait_for(j, kept_groups());
      adding.template add<kGroup>([&](int i) {
        return counts(j + i) ? VectorSamples{kept_[j + i], kVector} : VectorSamples{};
      });
    }
#pragma unroll 1
    for (int j = Counters::kKept; j < most_; j += kBatch)
      adding.template add<kBatch>([&](int i) {
        return counts(j + i) ? VectorSamples{*job_.in.address(place(j + i)), kVector}
                             : VectorSamples{};
      });

    // Single samples: those at the left and right of the region whose vector is not completely
    // inside.
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

  /// Calls f(place, vector) for the vectors and single samples of this thread. A single sample is
  /// the first of a vector.
  template <typename F>
  __device__ void for_each(const F &f) const {
    job_.in.walk(begin_, step_, min(Counters::kKept, n_),
                 [&](const VectorPlace &p, int j) { f(p, kept_[j]); });
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

  __device__ VectorPlace place(int j) const {
    return job_.in.place(begin_ + j * step_);
  }
  /// How many of most_ are kept, rounded up to whole groups.
  __device__ int kept_groups() const {
    return (min(most_, Counters::kKept) + Kept::kGroup - 1) / Kept::kGroup * Kept::kGroup;
  }

  const CountJob<T> &job_;
  Kept kept_;
  unsigned begin_, step_;  // the first vector of this thread, and the distance to the next
  int n_, most_;           // vectors of this thread, and of the block's first
};

}  // namespace cudascan::histogram
