// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Minima and maxima over the same segment at each pixel, by parts that cover it (cover.h).
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/base/packed_samples.cuh"
#include "kernels/base/ptx.cuh"
#include "kernels/linearopen/cover.h"

namespace cudascan::linearopen {

/// A thread has two words in each of four rows; a warp's words are adjacent.
constexpr int kCoverThreads = 256, kCoverRows = 4, kCoverWords = 2,
              kCoverHeight = kCoverRows * kCoverThreads / 32;
/// Columns of a block.
template <typename T>
constexpr int kCoverWidth = 32 * kCoverWords *Packed<T>::kSamples;
/// Places that one launch visits; most segments have fewer.
constexpr int kMostCovered = 32;

/// A plane with columns and rows before the image's. Its rows and the image's begin at whole words
/// and have room for whole words.
template <typename P>
struct CoverPlane {
  P plane;
  int left, above;
};

struct CoverPlace {
  int x, y;
};
template <typename T>
struct CoverJob {
  struct {
    CoverPlane<Plane<const T>> from;
    int end;  ///< number of the place after its last one
  } sources[SegmentCover::kMostLevels];
  CoverPlane<Plane<T>> out;
  int n_sources, n;
  bool more;  ///< `out` already has the extrema over other places
  CoverPlace places[kMostCovered];
};

/// Jobs of one launch: block z has number z.
constexpr int kMostCoverJobs = 8;
template <typename T>
struct CoverJobs {
  CoverJob<T> job[kMostCoverJobs];
};

/// The extrema for a thread's words.
template <typename T, typename Op>
class CoverWords {
 public:
  static constexpr int kSamples = Packed<T>::kSamples, kApart = 32 * kSamples,
                       kBits = 8 * sizeof(T);
  Packed<T> word[kCoverRows][kCoverWords];

  /// @param x, y  of the first word in `out`
  __device__ __forceinline__ CoverWords(const CoverPlane<Plane<T>> &out, int x, int y)
      : out_(out), x_(x), y_(y) {}

  /// Adds what is at the places [begin, end) of a plane relative to each pixel.
  __device__ __forceinline__ void add(const CoverPlane<Plane<const T>> &source,
                                      const CoverPlace *places, int begin, int end) {
    const Plane<const T> &plane = source.plane;
    // The thread's first word in the source, and the first column of its warp.
    const int x0 = x_ + source.left - out_.left, y0 = y_ + source.above - out_.above;
    const int warp_x = x0 - static_cast<int>(threadIdx.x % 32) * kSamples;
    // Number of columns and rows in which a warp may begin whose words are all inside.
    const auto columns =
        static_cast<unsigned>(max(plane.width - (kCoverWords * kApart + kSamples) + 1, 0));
    const auto rows = static_cast<unsigned>(max(plane.height - kCoverRows + 1, 0));
    const auto stride = static_cast<int>(plane.stride);
    const auto *from = reinterpret_cast<const unsigned char *>(plane.row(y0) + x0);
    int offset = 0;
#pragma unroll 1
    for (int i = begin; i < end; ++i) {
      const int before = places[i].x & (kSamples - 1), dx = places[i].x - before, dy = places[i].y;
      const int next = dy * stride + dx * static_cast<int>(sizeof(T));
      from += next - offset;
      offset = next;
      const int wx = warp_x + dx, y = y0 + dy;
      if (static_cast<unsigned>(wx) >= columns || static_cast<unsigned>(y) >= rows) {
        const bool any = wx < plane.width && wx + kCoverWords * kApart + kSamples > 0 &&
                         y < plane.height && y + kCoverRows > 0;
        if (any) add_at_edges(plane, from, x0 + dx, y, before);
      } else if (kSamples == 1 || before == 0) {
        add_words<false>(from, stride, 0);
      } else {
        add_words<true>(from, stride, before);
      }
    }
  }

  /// Calls visit(word, x, y) for the words whose first sample is in `out`.
  template <typename Visit>
  __device__ __forceinline__ void for_all(const Visit &visit) {
#pragma unroll
    for (int i = 0; i < kCoverRows; ++i)
#pragma unroll
      for (int j = 0; j < kCoverWords; ++j)
        if (x_ + j * kApart < out_.plane.width && y_ + i < out_.plane.height)
          visit(word[i][j], x_ + j * kApart, y_ + i);
  }

 private:
  /// @tparam between  whether places are between the beginnings of words
  /// @param  from     the word that the place of the thread's first sample is in
  /// @param  before   samples of this word before the place
  template <bool between>
  __device__ __forceinline__ void add_words(const unsigned char *from, int stride, int before) {
    unsigned words[kCoverRows][kCoverWords][2];
#pragma unroll
    for (int i = 0; i < kCoverRows; ++i, from += stride)
#pragma unroll
      for (int j = 0; j < kCoverWords; ++j)
#pragma unroll
        for (int k = 0; k <= between; ++k)
          words[i][j][k] = reinterpret_cast<const unsigned *>(from)[32 * j + k];
#pragma unroll
    for (int i = 0; i < kCoverRows; ++i)
#pragma unroll
      for (int j = 0; j < kCoverWords; ++j) {
        const auto &[first, second] = words[i][j];
        add(i, j, between ? __funnelshift_r(first, second, before * kBits) : first);
      }
  }
  /// @param x, y  of the first sample of `from`
  __device__ __forceinline__ void add_at_edges(const Plane<const T> &plane,
                                               const unsigned char *from, int x, int y,
                                               int before) {
    unsigned inside[kCoverWords][2];
#pragma unroll
    for (int j = 0; j < kCoverWords; ++j)
#pragma unroll
      for (int k = 0; k < 2; ++k)
        inside[j][k] = inside_mask<T>(x + j * kApart + k * kSamples, plane.width);
#pragma unroll
    for (int i = 0; i < kCoverRows; ++i, from += plane.stride) {
      if (y + i < 0 || y + i >= plane.height) continue;
#pragma unroll
      for (int j = 0; j < kCoverWords; ++j) {
        const auto *const word = reinterpret_cast<const unsigned *>(from) + 32 * j;
        unsigned words[2];
#pragma unroll
        for (int k = 0; k < 2; ++k) {
          words[k] = inside[j][k] ? word[k] : 0;
          words[k] = Op::kLargest ? words[k] & inside[j][k] : words[k] | ~inside[j][k];
        }
        add(i, j, __funnelshift_r(words[0], words[1], before * kBits));
      }
    }
  }
  __device__ __forceinline__ void add(int i, int j, unsigned more) {
    word[i][j] = Op()(word[i][j], Packed<T>::of(more));
  }

  const CoverPlane<Plane<T>> &out_;
  int x_, y_;
};

/// Extrema of what is at the places relative to each pixel of `out`. Nothing is outside the planes.
template <typename T, typename Op>
__global__ void __launch_bounds__(kCoverThreads)
    cover_kernel(const __grid_constant__ CoverJobs<T> jobs) {
  let_next_kernel_start();
  const CoverJob<T> &job = jobs.job[blockIdx.z];
  const Plane<T> &out = job.out.plane;
  const int x =
      static_cast<int>(blockIdx.x) * kCoverWidth<T> + threadIdx.x % 32 * Packed<T>::kSamples;
  const int y = static_cast<int>(blockIdx.y * kCoverHeight + threadIdx.x / 32 * kCoverRows);
  if (x >= out.width || y >= out.height) return;
  wait_for_kernels_before();
  CoverWords<T, Op> words(job.out, x, y);
  words.for_all([&](Packed<T> &word, int, int) { word = Op::template neutral<T>(); });
  if (job.more)
    words.for_all([&](Packed<T> &word, int x, int y) {
      word = Packed<T>::of(*reinterpret_cast<const unsigned *>(out.row(y) + x));
    });
  int place = 0;
#pragma unroll 1
  for (int i = 0; i < job.n_sources; ++i) {
    words.add(job.sources[i].from, job.places, place, job.sources[i].end);
    place = job.sources[i].end;
  }
  words.for_all([&](const Packed<T> &word, int x, int y) {
    *reinterpret_cast<unsigned *>(out.row(y) + x) = word.word();
  });
}

}  // namespace cudascan::linearopen
