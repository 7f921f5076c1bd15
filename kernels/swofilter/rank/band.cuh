// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// How kernels with rows of four samples per lane read and write images, including samples outside
/// the image.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/base/warp_sums.cuh"
#include "kernels/swofilter/cells.cuh"

namespace cudascan::swo {

template <typename T>
struct NetworkJob {
  Source<T> in;  // not smaller than the window
  Plane<T> out;
  bool aligned;  // words of `in` begin at multiples of their size
  std::int64_t percentile, alpha;
  int shift;
};

/// Warps of a block, in a column, and rows of each.
constexpr int kNetworkWarps = 4;
constexpr int kNetworkRows = 8;

/// Blocks at the bottom and the top of the image take longer, so they come first.
__device__ inline unsigned network_row_of_blocks() {
  return (blockIdx.y + gridDim.y - 1) % gridDim.y;
}

/// Whether position number `place` of a side is odd within its group of k.
template <int k>
__device__ __forceinline__ unsigned is_odd_place(int place) {
  place %= k;
  return (place < 0 ? place + k : place) & 1;
}

/// Samples outside the image, chosen so that the median of the whole window equals the median of
/// the clipped one, number floor(n / 2) of its n samples. That holds if floor(m / 2) of the
/// window's m outside positions have the lowest sample and the others the highest. In one outside
/// row (column) it holds for every window if positions alternate from one end on, restart after
/// every k, and the next row has the opposite values. A corner continues the side that does not
/// begin there, so each side begins at another corner.
template <int k>
class MedianOutside {
 public:
  __device__ __forceinline__ MedianOutside(int x, int width, int height)
      : x_(x),
        width_(width),
        height_(height),
        odd_above_(is_odd_place<k>(x)),
        odd_below_(is_odd_place<k>(width - 1 - x)) {}

  /// Whether the sample in row y, which is outside, is the lowest.
  __device__ __forceinline__ bool is_lowest(int y) const {
    const unsigned place_and_distance = y < 0 && x_ >= 0 ? odd_above_ - y
                                        : x_ >= width_   ? is_odd_place<k>(y) + x_ - (width_ - 1)
                                        : y >= height_   ? odd_below_ + y - (height_ - 1)
                                                         : is_odd_place<k>(height_ - 1 - y) - x_;
    return place_and_distance % 2 == 0;
  }

 private:
  int x_, width_, height_;
  unsigned odd_above_, odd_below_;
};

/// Four neighbouring samples of a lane in the rows of a warp's windows, as words.
/// @tparam offset  of the first sample from a multiple of 4
template <typename T, int k, int offset = k / 2>
class Band {
 public:
  static constexpr int kWords = sizeof(T);  // of four samples
  static constexpr int kRows = kNetworkRows + k - 1;
  static constexpr int kWarpSamples = 4 * 32;  // in a row
  unsigned word[kRows][kWords];

  /// @param x  column of the first sample minus `offset`, a multiple of 4
  __device__ __forceinline__ Band(const NetworkJob<T> &job, int x) : job_(job), x_(x + offset) {}

  /// The samples of a warp's lanes while they are being loaded.
  using Stage = T[kRows][kWarpSamples];

  /// Reads all rows, from row y on.
  __device__ __forceinline__ void read(int y, Stage &stage) {
    const Plane<const T> &plane = job_.in.plane;
    const int begin = x_ - kOffset;
    const bool inside = job_.aligned && begin >= 0 &&
                        begin + 4 + (kOffset ? kPerWord : 0) <= plane.width && y >= 0 &&
                        y + kRows <= plane.height;
    if (__any_sync(kWholeWarp, !inside)) return read_by_samples(y, stage);
    // All loads are issued before the first use.
    unsigned beyond[kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const auto *const words = reinterpret_cast<const unsigned *>(plane.row(y + i) + begin);
#pragma unroll
      for (int j = 0; j < kWords; ++j) word[i][j] = words[j];
      beyond[i] = kOffset == 0 ? 0 : words[kWords];
    }
    if constexpr (kOffset > 0) {
#pragma unroll
      for (int i = 0; i < kRows; ++i)
#pragma unroll
        for (int j = 0; j < kWords; ++j)
          word[i][j] = __funnelshift_r(word[i][j], j + 1 < kWords ? word[i][j + 1] : beyond[i],
                                       8 * static_cast<int>(sizeof(T)) * kOffset);
    }
  }

  /// Moves two rows down.
  __device__ __forceinline__ void step() {
#pragma unroll
    for (int i = 0; i + 2 < kRows; ++i)
#pragma unroll
      for (int j = 0; j < kWords; ++j) word[i][j] = word[i + 2][j];
  }

 private:
  static constexpr int kPerWord = 4 / sizeof(T), kOffset = offset % kPerWord;
  static constexpr unsigned kLargest = (1u << (8 * sizeof(T))) - 1;

  /// The same for samples anywhere. Lanes read adjacent samples.
  __device__ __forceinline__ void read_by_samples(int y, Stage &stage) {
    const Plane<const T> &plane = job_.in.plane;
    const SwoFilterBorder border = job_.in.border;
    const int width = plane.width, height = plane.height;
    const int lane = threadIdx.x % 32, first = x_ - 4 * lane + lane;
#pragma unroll 1
    for (int q = 0; q < kWarpSamples / 32; ++q) {
      const int x = first + 32 * q, column = resolve(x, width, border);
      const MedianOutside<k> outside(x, width, height);
      // All loads are issued first here, too.
      unsigned samples[kRows];
#pragma unroll
      for (int i = 0; i < kRows; ++i)
        samples[i] = plane.row(max(resolve(y + i, height, border), 0))[max(column, 0)];
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        if (column < 0 || resolve(y + i, height, border) < 0)
          samples[i] = border == SwoFilterBorder::constant ? job_.in.outside
                       : outside.is_lowest(y + i)          ? 0
                                                           : kLargest;
        stage[i][lane + 32 * q] = static_cast<T>(samples[i]);
      }
    }
    __syncwarp();
#pragma unroll
    for (int i = 0; i < kRows; ++i)
#pragma unroll
      for (int j = 0; j < kWords; ++j)
        word[i][j] = reinterpret_cast<const unsigned *>(&stage[i][4 * lane])[j];
  }

  const NetworkJob<T> &job_;
  int x_;
};

/// Writes four samples of a row.
/// @param n      of them that are in the image
/// @param whole  all are, and they begin at a multiple of their size
template <typename T, int n_words>
__device__ __forceinline__ void store(T *to, bool whole, int n, const unsigned (&words)[n_words]) {
  constexpr int kPerWord = 4 / sizeof(T);
  if (whole) {
    if constexpr (n_words == 1)
      *reinterpret_cast<unsigned *>(to) = words[0];
    else
      *reinterpret_cast<uint2 *>(to) = uint2{words[0], words[1]};
  } else {
#pragma unroll
    for (int i = 0; i < 4; ++i)
      if (i < n) to[i] = static_cast<T>(words[i / kPerWord] >> (8 * sizeof(T) * (i % kPerWord)));
  }
}

/// The output position of a lane: row by row, from column x on.
template <typename T>
class Writer {
 public:
  /// @param n_rows  rows to write
  __device__ __forceinline__ Writer(const Plane<T> &plane, int x, int y, int n_rows)
      : to_(reinterpret_cast<unsigned char *>(plane.row(y) + x)),
        stride_(plane.stride),
        n_(plane.width - x),
        rows_(n_rows),
        whole_(n_ >= 4 &&
               (reinterpret_cast<std::uintptr_t>(to_) | stride_) % (4 * sizeof(T)) == 0) {}

  template <int n_words>
  __device__ __forceinline__ void next_row(const unsigned (&words)[n_words]) {
    if (rows_-- > 0) store(reinterpret_cast<T *>(to_), whole_, n_, words);
    to_ += stride_;
  }

 private:
  unsigned char *to_;
  std::ptrdiff_t stride_;
  int n_, rows_;
  bool whole_;
};

}  // namespace cudascan::swo
