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

/// A thread has two words in each of two rows; a warp's words are adjacent.
constexpr int kCoverThreads = 256, kCoverRows = 2, kCoverWords = 2,
              kCoverHeight = kCoverRows * kCoverThreads / 32;
/// Columns of a block.
template <typename T>
constexpr int kCoverWidth = 32 * kCoverWords *Packed<T>::kSamples;
/// Places that one launch visits; most segments have fewer.
constexpr int kMostCovered = 32;

/// A plane with columns and rows before the image's. Its rows and the image's begin at whole words.
template <typename P>
struct CoverPlane {
  P plane;
  int left, above;
};

struct CoverPlace {
  std::int16_t x, y;
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

/// The extrema for a thread's words.
template <typename T, typename Op>
class CoverWords {
 public:
  static constexpr int kSamples = Packed<T>::kSamples, kApart = 32 * kSamples;
  Packed<T> word[kCoverRows][kCoverWords];

  /// @param x, y  of the first word in `out`
  __device__ __forceinline__ CoverWords(const CoverPlane<Plane<T>> &out, int x, int y)
      : out_(out), x_(x), y_(y) {}

  /// Adds what is at a place of a plane relative to each pixel.
  __device__ __forceinline__ void add(const CoverPlane<Plane<const T>> &source,
                                      const CoverPlace &place) {
    const Plane<const T> &plane = source.plane;
    // All but the thread's own offset is the same for the block.
    const int dx = place.x + source.left - out_.left, dy = place.y + source.above - out_.above;
    const int before = dx & (kSamples - 1), x = x_ + dx - before, y = y_ + dy;
    if (x < 0 || x + kApart + 2 * kSamples > plane.width || y < 0 || y + kCoverRows > plane.height)
      return add_at_edges(plane, x_ + dx, y);
    constexpr int kBits = 8 * sizeof(T);
    unsigned words[kCoverRows][kCoverWords][2];
    const auto stride = static_cast<int>(plane.stride);
    const auto *row = reinterpret_cast<const unsigned char *>(plane.data + x) +
                      static_cast<std::int64_t>(y) * stride;
#pragma unroll
    for (int i = 0; i < kCoverRows; ++i, row += stride) {
      const auto *const from = reinterpret_cast<const unsigned *>(row);
#pragma unroll
      for (int j = 0; j < kCoverWords; ++j) {
        words[i][j][0] = from[32 * j];
        words[i][j][1] = before ? from[32 * j + 1] : 0;
      }
    }
#pragma unroll
    for (int i = 0; i < kCoverRows; ++i)
#pragma unroll
      for (int j = 0; j < kCoverWords; ++j)
        add(i, j, __funnelshift_r(words[i][j][0], words[i][j][1], before * kBits));
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
  __device__ void add_at_edges(const Plane<const T> &plane, int x, int y) {
#pragma unroll
    for (int j = 0; j < kCoverWords; ++j, x += kApart) {
      if (x + kSamples <= 0 || x >= plane.width) continue;
#pragma unroll
      for (int i = 0; i < kCoverRows; ++i)
        if (y + i >= 0 && y + i < plane.height)
          add(i, j, load_word(plane.row(y + i), plane.width, x, Op::kLargest ? 0 : ~0u));
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
    cover_kernel(const __grid_constant__ CoverJob<T> job) {
  let_next_kernel_start();
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
      word = Packed<T>::of(load_word<T>(out.row(y), out.width, x, 0));
    });
  int place = 0;
#pragma unroll 1
  for (int i = 0; i < job.n_sources; ++i)
#pragma unroll 1
    for (; place < job.sources[i].end; ++place) words.add(job.sources[i].from, job.places[place]);
  words.for_all([&](const Packed<T> &word, int x, int y) {
    store_word(out.row(y), out.width, x, word.word());
  });
}

}  // namespace cudascan::linearopen
