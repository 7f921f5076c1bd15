// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The work before and after openings along lines, tile by tile: converts samples to ordered
/// integers, transposes images for flat lines, and converts results back to samples.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/base/packed_samples.cuh"
#include "kernels/base/ptx.cuh"
#include "kernels/linearopen/line_strips.cuh"
#include "kernels/linearopen/samples.h"

namespace cudascan::linearopen {

/// Tiles have 32 rows of 32 words.
constexpr int kTileThreads = 256, kTileHeight = 32;
template <typename T>
constexpr int kTileWidth = 32 * Packed<T>::kSamples;

/// A square of as many words (rows) as a word has samples: transposes it.
template <typename T>
__device__ void transpose(unsigned (&rows)[Packed<T>::kSamples]) {
  if constexpr (sizeof(T) == 1) {
    const unsigned a = __byte_perm(rows[0], rows[1], 0x5140);
    const unsigned b = __byte_perm(rows[2], rows[3], 0x5140);
    const unsigned c = __byte_perm(rows[0], rows[1], 0x7362);
    const unsigned d = __byte_perm(rows[2], rows[3], 0x7362);
    rows[0] = __byte_perm(a, b, 0x5410);
    rows[1] = __byte_perm(a, b, 0x7632);
    rows[2] = __byte_perm(c, d, 0x5410);
    rows[3] = __byte_perm(c, d, 0x7632);
  } else if constexpr (sizeof(T) == 2) {
    const unsigned first = __byte_perm(rows[0], rows[1], 0x5410);
    rows[1] = __byte_perm(rows[0], rows[1], 0x7632);
    rows[0] = first;
  }
}

/// A part of a plane, transposed, in shared memory. Rows are rotated so that words written or read
/// together are in different banks.
template <typename T, int width, int height>
class TransposedTile {
 public:
  /// Reads the tile: `height` columns and `width` rows from (x, y) of a plane on. Samples outside
  /// have the bits of `outside`. All threads of the block call it.
  template <typename Any>
  __device__ void read(const Plane<Any> &plane, int x, int y, unsigned outside) {
    const bool whole = (reinterpret_cast<std::uintptr_t>(plane.data) | plane.stride) % 4 == 0 &&
                       x + height <= plane.width && y + width <= plane.height;
#pragma unroll
    for (int i = threadIdx.x; i < kAcross * kWords; i += kTileThreads) {
      const int word = i % kAcross, group = i / kAcross, column = x + word * kSamples;
      unsigned rows[kSamples];
#pragma unroll
      for (int k = 0; k < kSamples; ++k) {
        const int row = y + group * kSamples + k;
        if (whole)
          rows[k] = *reinterpret_cast<const unsigned *>(plane.row(row) + column);
        else
          rows[k] = row < plane.height && column < plane.width
                        ? load_word<T>(plane.row(row), plane.width, column, outside)
                        : outside;
      }
      transpose<T>(rows);
#pragma unroll
      for (int k = 0; k < kSamples; ++k)
        words_[word * kSamples + k][(group + word * kTurn) % kWords] = rows[k];
    }
  }
  /// A word of a row of the tile.
  __device__ unsigned word(int row, int number) const {
    return words_[row][(number + row / kSamples * kTurn) % kWords];
  }

 private:
  static constexpr int kSamples = Packed<T>::kSamples, kWords = width / kSamples;
  static constexpr int kAcross = height / kSamples, kTurn = 32 / kAcross;

  unsigned words_[height][kWords];
};

template <typename T>
struct PrepareJob {
  Plane<const T> in;
  /// With width and height exchanged. Rows begin at whole words; their last word is filled up with
  /// samples that change no minimum.
  Plane<T> out;
  bool floats;
  unsigned flip;
};
template <typename T>
__global__ void __launch_bounds__(kTileThreads)
    prepare_turned_kernel(const __grid_constant__ PrepareJob<T> job) {
  constexpr int kWidth = kTileWidth<T>, kHeight = kTileHeight;
  __shared__ TransposedTile<T, kWidth, kHeight> tile;
  let_next_kernel_start();
  wait_for_kernels_before();
  const int x0 = blockIdx.x * kWidth, y0 = blockIdx.y * kHeight;
  tile.read(job.in, y0, x0, ~job.flip);
  __syncthreads();
  const int word = threadIdx.x % 32, x = x0 + word * Packed<T>::kSamples;
  if (x >= job.out.width) return;
#pragma unroll
  for (int i = threadIdx.x / 32; i < kHeight; i += kTileThreads / 32)
    if (y0 + i < job.out.height)
      *reinterpret_cast<unsigned *>(job.out.row(y0 + i) + x) =
          ordered_word<T>(tile.word(i, word), job.floats, job.flip);
}
/// The same without transposing.
template <typename T>
__global__ void __launch_bounds__(kTileThreads)
    prepare_kernel(const __grid_constant__ PrepareJob<T> job) {
  let_next_kernel_start();
  wait_for_kernels_before();
  const int x = blockIdx.x * kTileWidth<T> + threadIdx.x % 32 * Packed<T>::kSamples;
  if (x >= job.out.width) return;
#pragma unroll
  for (int i = threadIdx.x / 32; i < kTileHeight; i += kTileThreads / 32) {
    const int y = blockIdx.y * kTileHeight + i;
    if (y < job.out.height)
      *reinterpret_cast<unsigned *>(job.out.row(y) + x) = ordered_word<T>(
          load_word(job.in.row(y), job.in.width, x, ~job.flip), job.floats, job.flip);
  }
}

/// The largest results of some directions.
template <typename T>
struct Best {
  Plane<T> value;  ///< data is nullptr if there are no directions
  /// The number of the first direction with the value; data is nullptr if they are not wanted.
  Plane<std::uint16_t> number;
};

template <typename T>
struct FinishJob {
  Plane<const T> in;
  Plane<T> out;
  Best<T> upright, turned;  ///< of the image, and of the transposed one
  unsigned flip;
  bool floats;
  LinearOpenOperation operation;
  bool orientation;
  int degree_shift;            ///< degrees are in steps of the format
  std::uint8_t degrees[1024];  ///< of the directions
};

/// a - b of samples, none of which is negative.
template <typename T>
__device__ unsigned difference(unsigned a, unsigned b, bool floats) {
  if (sizeof(T) == 4 && floats) return __float_as_uint(__uint_as_float(a) - __uint_as_float(b));
  return a - b;  // no sample borrows from the next
}

template <typename T, bool orientation>
__global__ void __launch_bounds__(kTileThreads)
    finish_kernel(const __grid_constant__ FinishJob<T> job) {
  constexpr int kWidth = kTileWidth<T>, kHeight = kTileHeight;
  constexpr int kSamples = Packed<T>::kSamples, kBits = 8 * sizeof(T);
  __shared__ TransposedTile<T, kWidth, kHeight> values;
  __shared__ TransposedTile<std::uint16_t, kWidth, orientation ? kHeight : 2> numbers;
  let_next_kernel_start();
  wait_for_kernels_before();
  const int x0 = blockIdx.x * kWidth, y0 = blockIdx.y * kHeight;
  const bool any_turned = job.turned.value.data, any_upright = job.upright.value.data;
  if (any_turned) {
    values.read(job.turned.value, y0, x0, 0);
    if (orientation) numbers.read(job.turned.number, y0, x0, 0);
    __syncthreads();
  }
  const int word = threadIdx.x % 32, x = x0 + word * kSamples;
  if (x >= job.in.width) return;
#pragma unroll
  for (int i = threadIdx.x / 32; i < kHeight; i += kTileThreads / 32) {
    const int y = y0 + i;
    if (y >= job.in.height) continue;
    const unsigned upright =
        any_upright ? *reinterpret_cast<const unsigned *>(job.upright.value.row(y) + x) : 0;
    const unsigned turned = any_turned ? values.word(i, word) : 0;
    unsigned result = 0;
    if constexpr (orientation) {
#pragma unroll
      for (int k = 0; k < kSamples; ++k) {
        const T value = static_cast<T>(upright >> kBits * k);
        const T other = static_cast<T>(turned >> kBits * k);
        int number = 0xffff;
        if (any_upright && x + k < job.in.width) number = job.upright.number.row(y)[x + k];
        if (any_turned) {
          const int other_number =
              numbers.word(i, (word * kSamples + k) / 2) >> (word * kSamples + k) % 2 * 16 & 0xffff;
          if (!any_upright || other > value || (other == value && other_number < number))
            number = other_number;
        }
        // Samples after the last column have no direction.
        T degree = static_cast<T>(job.degrees[number & 1023] << job.degree_shift);
        if constexpr (sizeof(T) == 4)
          if (job.floats) degree = __float_as_uint(static_cast<float>(degree));
        result |= static_cast<unsigned>(degree) << kBits * k;
      }
    } else {
      const auto best = Largest()(Packed<T>::of(upright), Packed<T>::of(turned)).word();
      result = restored_word<T>(best, job.floats, job.flip);
      if (is_difference(job.operation)) {
        const unsigned in = load_word(job.in.row(y), job.in.width, x, 0);
        const bool top = job.operation == LinearOpenOperation::top_hat;
        result = difference<T>(top ? in : result, top ? result : in, job.floats);
      }
    }
    store_word(job.out.row(y), job.out.width, x, result);
  }
}

}  // namespace cudascan::linearopen
