// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What there is to do before and after openings along lines: samples are made ordered integers, the best
/// of several directions is found, and the result is made samples again.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/digital_lines.h"
#include "kernels/linearopen_samples.h"
#include "kernels/packed_samples.cuh"
#include "kernels/warp_sums.cuh"

namespace cudascan::linearopen {

constexpr int kTile = 32, kTileRows = 8, kFoldThreads = 128;

template <typename T>
__device__ T ordered(T sample, bool floats, T flip) {
  if constexpr (sizeof(T) == 4)
    if (floats) sample = ordered_of_bits(sample);
  return static_cast<T>(sample ^ flip);
}
template <typename T>
__device__ T restored(T value, bool floats, T flip) {
  value = static_cast<T>(value ^ flip);
  if constexpr (sizeof(T) == 4)
    if (floats) value = bits_of_ordered(value);
  return value;
}

/// a - b of samples.
template <typename T>
__device__ T difference(T a, T b, bool floats) {
  if constexpr (sizeof(T) == 4)
    if (floats) return __float_as_uint(__uint_as_float(a) - __uint_as_float(b));
  return static_cast<T>(a - b);
}

template <typename T>
struct PrepareJob {
  Plane<const T> in;
  Plane<T> out;  ///< width and height exchanged if it is transposed
  bool floats;
  T flip;
};
template <typename T, bool transposed>
__global__ void prepare_kernel(const __grid_constant__ PrepareJob<T> job) {
  __shared__ T tile[kTile][kTile + 4 / sizeof(T)];
  const int x0 = blockIdx.x * kTile, y0 = blockIdx.y * kTile, column = threadIdx.x;
  for (int row = threadIdx.y; row < kTile; row += kTileRows) {
    const int x = x0 + column, y = y0 + row;
    if (x >= job.in.width || y >= job.in.height) continue;
    const T sample = ordered(job.in.row(y)[x], job.floats, job.flip);
    if (transposed)
      tile[row][column] = sample;
    else
      job.out.row(y)[x] = sample;
  }
  if (!transposed) return;
  __syncthreads();
  for (int row = threadIdx.y; row < kTile; row += kTileRows) {
    const int x = x0 + row, y = y0 + column;
    if (x < job.in.width && y < job.in.height) job.out.row(x)[y] = tile[column][row];
  }
}

/// The largest results of the directions so far, and the numbers of the first directions that have them.
template <typename T>
struct Best {
  Plane<T> value;
  Plane<std::uint16_t> number;
};

template <typename T>
struct FoldJob {
  Plane<T> planes;  ///< the first of n, `bytes` from one to the next
  std::size_t bytes;
  int n, number;  ///< of the first
  bool first;     ///< whether there is nothing in `best` yet
  Best<T> best;
};
/// A thread has a word of each plane. Planes and rows begin at whole words.
template <typename T>
__global__ void fold_kernel(const __grid_constant__ FoldJob<T> job) {
  constexpr int kSamples = Packed<T>::kSamples, kBits = 8 * sizeof(T);
  const int x = static_cast<int>(blockIdx.x * kFoldThreads + threadIdx.x) * kSamples;
  if (x >= job.planes.width) return;
  const int y = blockIdx.y;
  const auto *from = reinterpret_cast<const unsigned char *>(job.planes.row(y) + x);
  T values[kSamples];
  int numbers[kSamples];
  if constexpr (sizeof(T) == 1) {
    // Value and number in 16 bits, the number counting down: the larger of two is the better one.
    unsigned even = 0, odd = 0;
#pragma unroll 8
    for (int i = 0; i < job.n; ++i) {
      const unsigned word = *reinterpret_cast<const unsigned *>(from + i * job.bytes);
      const unsigned down = 255 - i;
      even = __vmaxu2(even, __byte_perm(word, down, 0x2404));
      odd = __vmaxu2(odd, __byte_perm(word, down, 0x3414));
    }
#pragma unroll
    for (int k = 0; k < kSamples; ++k) {
      const unsigned both = (k % 2 ? odd : even) >> k / 2 * 16;
      values[k] = static_cast<T>(both >> 8);
      numbers[k] = job.number + 255 - static_cast<int>(both & 0xff);
    }
  } else {
#pragma unroll
    for (int k = 0; k < kSamples; ++k) {
      values[k] = 0;
      numbers[k] = job.number;
    }
#pragma unroll 8
    for (int i = 0; i < job.n; ++i) {
      const unsigned word = *reinterpret_cast<const unsigned *>(from + i * job.bytes);
#pragma unroll
      for (int k = 0; k < kSamples; ++k) {
        const T value = static_cast<T>(word >> kBits * k % 32);
        if (value <= values[k]) continue;
        values[k] = value;
        numbers[k] = job.number + i;
      }
    }
  }
#pragma unroll
  for (int k = 0; k < kSamples; ++k) {
    if (x + k >= job.planes.width) break;
    T &value = job.best.value.row(y)[x + k];
    std::uint16_t &number = job.best.number.row(y)[x + k];
    if (!job.first && values[k] <= value) continue;
    value = values[k];
    number = static_cast<std::uint16_t>(numbers[k]);
  }
}

template <typename T>
struct FinishJob {
  Plane<const T> in;
  Plane<T> out;
  Best<T> upright, turned;  ///< data is nullptr where there are none
  T flip;
  bool floats;
  LinearOpenOperation operation;
  bool orientation;
  int degree_shift;            ///< degrees are in steps of the format
  std::uint8_t degrees[1024];  ///< of the directions
};
template <typename T>
__global__ void finish_kernel(const __grid_constant__ FinishJob<T> job) {
  __shared__ T values[kTile][kTile + 4 / sizeof(T)];
  __shared__ std::uint16_t numbers[kTile][kTile + 2];
  const int x0 = blockIdx.x * kTile, y0 = blockIdx.y * kTile, column = threadIdx.x;
  if (job.turned.value.data) {
    for (int row = threadIdx.y; row < kTile; row += kTileRows) {
      const int x = x0 + row, y = y0 + column;
      if (x >= job.in.width || y >= job.in.height) continue;
      values[row][column] = job.turned.value.row(x)[y];
      numbers[row][column] = job.turned.number.row(x)[y];
    }
  }
  __syncthreads();
  for (int row = threadIdx.y; row < kTile; row += kTileRows) {
    const int x = x0 + column, y = y0 + row;
    if (x >= job.in.width || y >= job.in.height) continue;
    T value = 0;
    int number = 65535;
    if (job.upright.value.data) {
      value = job.upright.value.row(y)[x];
      number = job.upright.number.row(y)[x];
    }
    if (job.turned.value.data) {
      const T other = values[column][row];
      const int other_number = numbers[column][row];
      if (other > value || (other == value && other_number < number)) {
        value = other;
        number = other_number;
      }
    }
    T result = restored(value, job.floats, job.flip);
    if (job.orientation) {
      result = static_cast<T>(job.degrees[number] << job.degree_shift);
      if constexpr (sizeof(T) == 4)
        if (job.floats) result = __float_as_uint(static_cast<float>(result));
    } else if (job.operation == LinearOpenOperation::top_hat) {
      result = difference(job.in.row(y)[x], result, job.floats);
    } else if (job.operation == LinearOpenOperation::black_hat) {
      result = difference(result, job.in.row(y)[x], job.floats);
    }
    job.out.row(y)[x] = result;
  }
}

template <typename T>
struct InvariantJob {
  Plane<const T> in;
  bool floats;
  unsigned flip;
  Plane<T> out;  ///< rows begin at whole words
  lines::Direction direction;
  int length;
};
/// Extrema over the segment around each pixel, for maxima the segment turned around it.
template <typename T, typename Op>
__global__ void invariant_kernel(const __grid_constant__ InvariantJob<T> job) {
  constexpr bool kLargest = Op::kLargest;
  const int x = static_cast<int>(blockIdx.x * kFoldThreads + threadIdx.x) * Packed<T>::kSamples;
  if (x >= job.in.width) return;
  const int y = blockIdx.y, before = job.length / 2, behind = (job.length - 1) / 2;
  const int begin = max(kLargest ? -behind : -before, -y);
  const int end = min(kLargest ? before : behind, job.in.height - 1 - y);
  const unsigned outside = kLargest ? 0 : ~job.flip;
  auto result = Op::template neutral<T>();
#pragma unroll 4
  for (int t = begin; t <= end; ++t) {
    const int column = x + job.direction.shift(t);
    unsigned word = load_word(job.in.row(y + t), job.in.width, column, outside);
    if constexpr (sizeof(T) == 4)
      if (job.floats && column >= 0 && column < job.in.width) word = ordered_of_bits(word);
    result = Op()(result, Packed<T>::of(word ^ job.flip));
  }
  store_word(job.out.row(y), job.out.width, x, result.word());
}

template <typename T>
struct SumJob {
  Plane<const T> opening;  ///< ordered, complemented
  Plane<const T> source;
  bool source_floats;
  T source_flip;  ///< what it has not been xored with yet
  T flip;         ///< of the operation
  bool floats;  ///< whether samples are floats: they count in units, the difference if it is wanted
  bool differences;
  std::uint64_t *sum;
};
template <typename T>
__global__ void sum_kernel(const __grid_constant__ SumJob<T> job) {
  const int x = static_cast<int>(blockIdx.x * kFoldThreads + threadIdx.x);
  const int begin = blockIdx.y * 16, end = min(begin + 16, job.opening.height);
  std::uint64_t sum = 0;
  if (x < job.opening.width) {
    for (int y = begin; y < end; ++y) {
      const T value = job.opening.row(y)[x];
      if constexpr (sizeof(T) == 4) {
        float result = __uint_as_float(restored(value, true, job.flip));
        if (job.differences) {
          const T in = ordered(job.source.row(y)[x], job.source_floats, job.source_flip);
          const float sample = __uint_as_float(restored(in, true, job.flip));
          result = job.flip ? result - sample : sample - result;
        }
        sum += static_cast<std::uint64_t>(spectrum_units(result));
      } else {
        sum += value;
      }
    }
  }
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0 && sum != 0)
    atomicAdd(reinterpret_cast<unsigned long long *>(job.sum),
              static_cast<unsigned long long>(sum));
}

}  // namespace cudascan::linearopen
