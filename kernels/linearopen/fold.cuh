// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The best of the results of several directions, and the sums of results.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/base/packed_samples.cuh"
#include "kernels/base/ptx.cuh"
#include "kernels/base/warp_sums.cuh"
#include "kernels/linearopen/samples.h"
#include "kernels/linearopen/tiles.cuh"

namespace cudascan::linearopen {

constexpr int kFoldThreads = 128, kMostFolded = 256;

/// The results of some directions.
template <typename T>
struct FoldPart {
  Plane<T> planes;  ///< the first of several, FoldJob::bytes apart; rows begin at whole words
  int n;
  int first;  ///< first of the numbers
  bool more;  ///< whether `best` already has results
  Best<T> best;
};
template <typename T>
struct FoldJob {
  FoldPart<T> part[2];
  std::size_t bytes;
  std::uint16_t numbers[kMostFolded];  ///< of the directions, ascending in each part
};

/// Planes, as in FoldJob. Planes of transposed directions use the same memory as the others.
template <typename T>
struct EndsJob {
  /// The first ones, upright and transposed; data is nullptr if there is nothing to clear.
  Plane<T> planes[2];
  std::size_t bytes;  ///< from one to the next
};
/// Clears the last word of each row that ends within a word. Openings write samples, but folding
/// reads words, so samples after the end are read although nothing wrote them.
template <typename T>
__global__ void __launch_bounds__(kFoldThreads)
    clear_ends_kernel(const __grid_constant__ EndsJob<T> job) {
  let_next_kernel_start();
  const Plane<T> &plane = job.planes[blockIdx.z];
  const int y = static_cast<int>(blockIdx.x * kFoldThreads + threadIdx.x);
  wait_for_kernels_before();
  if (!plane.data || y >= plane.height) return;
  auto *const row = reinterpret_cast<unsigned char *>(plane.row(y)) + blockIdx.y * job.bytes;
  reinterpret_cast<unsigned *>(row)[plane.width / Packed<T>::kSamples] = 0;
}

/// The largest values of a word of several planes.
template <typename T>
__device__ unsigned largest_of(const unsigned char *from, std::size_t bytes, int n) {
  auto best = Packed<T>::lowest();
#pragma unroll 8
  for (int i = 0; i < n; ++i)
    best = Largest()(best, Packed<T>::of(*reinterpret_cast<const unsigned *>(from + i * bytes)));
  return best.word();
}
/// The same, with the number of the first plane that has each value.
template <typename T>
__device__ unsigned largest_of(const unsigned char *from, std::size_t bytes, int n,
                               int (&numbers)[Packed<T>::kSamples]) {
  constexpr int kSamples = Packed<T>::kSamples, kBits = 8 * sizeof(T);
  unsigned result = 0;
  if constexpr (sizeof(T) == 1) {
    // Value and number in 16 bits; the number counts down, so the larger of two is the better one.
    unsigned even = 0, odd = 0;
#pragma unroll 8
    for (int i = 0; i < n; ++i) {
      const unsigned word = *reinterpret_cast<const unsigned *>(from + i * bytes);
      const unsigned down = kMostFolded - 1 - i;
      even = __vmaxu2(even, __byte_perm(word, down, 0x2404));
      odd = __vmaxu2(odd, __byte_perm(word, down, 0x3414));
    }
#pragma unroll
    for (int k = 0; k < kSamples; ++k) {
      const unsigned both = (k % 2 ? odd : even) >> k / 2 * 16;
      result |= (both >> 8 & 0xff) << kBits * k;
      numbers[k] = kMostFolded - 1 - static_cast<int>(both & 0xff);
    }
  } else {
    T values[kSamples]{};
#pragma unroll
    for (int k = 0; k < kSamples; ++k) numbers[k] = 0;
#pragma unroll 8
    for (int i = 0; i < n; ++i) {
      const unsigned word = *reinterpret_cast<const unsigned *>(from + i * bytes);
#pragma unroll
      for (int k = 0; k < kSamples; ++k) {
        const T value = static_cast<T>(word >> kBits * k % 32);
        if (value <= values[k]) continue;
        values[k] = value;
        numbers[k] = i;
      }
    }
#pragma unroll
    for (int k = 0; k < kSamples; ++k) result |= static_cast<unsigned>(values[k]) << kBits * k % 32;
  }
  return result;
}

/// Each thread processes one word of each plane.
template <typename T, bool with_numbers>
__global__ void __launch_bounds__(kFoldThreads)
    fold_kernel(const __grid_constant__ FoldJob<T> job) {
  constexpr int kSamples = Packed<T>::kSamples, kBits = 8 * sizeof(T);
  let_next_kernel_start();
  const FoldPart<T> &part = job.part[blockIdx.z];
  const int words = (part.planes.width + kSamples - 1) / kSamples;
  const int i = static_cast<int>(blockIdx.x * kFoldThreads + threadIdx.x);
  if (part.n == 0 || i >= words * part.planes.height) return;
  wait_for_kernels_before();
  const int y = i / words, x = i % words * kSamples;
  const auto *const from = reinterpret_cast<const unsigned char *>(part.planes.row(y) + x);
  unsigned &best = *reinterpret_cast<unsigned *>(part.best.value.row(y) + x);
  if constexpr (!with_numbers) {
    const auto folded = Packed<T>::of(largest_of<T>(from, job.bytes, part.n));
    best = part.more ? Largest()(Packed<T>::of(best), folded).word() : folded.word();
  } else {
    int numbers[kSamples];
    const unsigned folded = largest_of<T>(from, job.bytes, part.n, numbers);
    std::uint16_t *const number = part.best.number.row(y) + x;
    unsigned result = 0;
#pragma unroll
    for (int k = 0; k < kSamples; ++k) {
      const T value = static_cast<T>(folded >> kBits * k % 32);
      const T before = part.more ? static_cast<T>(best >> kBits * k % 32) : T{0};
      const std::uint16_t its = job.numbers[part.first + numbers[k]];
      if (!part.more || value > before || (value == before && its < number[k])) number[k] = its;
      result |= static_cast<unsigned>(max(value, before)) << kBits * k % 32;
    }
    best = result;
  }
}

template <typename T>
struct SumJob {
  Plane<const T> opening;  ///< ordered, complemented
  Plane<const T> source;
  bool source_floats;
  T source_flip;  ///< still to be XORed with it
  T flip;         ///< of the operation
  bool floats;    ///< whether samples are floats; these are summed in units of 1/65536
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
        float result = __uint_as_float(restored_word<T>(value, true, job.flip));
        if (job.differences) {
          const T in = ordered_word<T>(job.source.row(y)[x], job.source_floats, job.source_flip);
          const float sample = __uint_as_float(restored_word<T>(in, true, job.flip));
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
