// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Several samples in a 32-bit word, for minima and maxima of all at once, and access to rows of
/// such words anywhere in a plane.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "common/plane.h"

namespace cudascan {

/// Samples of a word, spread for minima and maxima: 8-bit samples use two registers with two
/// samples each. In the second register they are in the upper bytes; the bytes below matter only
/// for ties.
template <typename T>
struct Packed {
  static constexpr int kSamples = 4 / sizeof(T), kRegisters = sizeof(T) == 1 ? 2 : 1;
  unsigned part[kRegisters];

  static __device__ Packed of(unsigned word) {
    if constexpr (sizeof(T) == 1)
      return {word & 0x00ff00ff, word};
    else
      return {word};
  }
  __device__ unsigned word() const {
    if constexpr (sizeof(T) == 1)
      return __byte_perm(part[0], part[1], 0x7250);
    else
      return part[0];
  }
  /// All samples 0, or the largest.
  static __device__ Packed lowest() { return of(0); }
  static __device__ Packed highest() { return of(~0u); }
};

/// The smaller and the larger samples of two words.
struct Smallest {
  static constexpr bool kLargest = false;

  template <typename T>
  __device__ Packed<T> operator()(Packed<T> a, const Packed<T> &b) const {
#pragma unroll
    for (int i = 0; i < Packed<T>::kRegisters; ++i)
      a.part[i] = sizeof(T) == 4 ? min(a.part[i], b.part[i]) : __vminu2(a.part[i], b.part[i]);
    return a;
  }
  /// The neutral value.
  template <typename T>
  static __device__ Packed<T> neutral() {
    return Packed<T>::highest();
  }
};
struct Largest {
  static constexpr bool kLargest = true;

  template <typename T>
  __device__ Packed<T> operator()(Packed<T> a, const Packed<T> &b) const {
#pragma unroll
    for (int i = 0; i < Packed<T>::kRegisters; ++i)
      a.part[i] = sizeof(T) == 4 ? max(a.part[i], b.part[i]) : __vmaxu2(a.part[i], b.part[i]);
    return a;
  }
  template <typename T>
  static __device__ Packed<T> neutral() {
    return Packed<T>::lowest();
  }
};

/// The bits of the first n samples of a word; none for n <= 0.
template <typename T>
__device__ unsigned first_samples_mask(int n) {
  return __funnelshift_lc(~0u, 0u, max(n, 0) * (8 * sizeof(T)));
}
/// The bits of a word whose samples, from column x on, are inside a row of this width.
template <typename T>
__device__ unsigned inside_mask(int x, int width) {
  return first_samples_mask<T>(width - x) & ~first_samples_mask<T>(-x);
}

/// Reads the word of samples from column x on. Samples outside the row are `outside`.
template <typename T>
__device__ unsigned load_word(const T *row, int width, int x, unsigned outside) {
  constexpr int kSamples = Packed<T>::kSamples, kBits = 8 * sizeof(T);
  const auto address = reinterpret_cast<std::uintptr_t>(row + x);
  const auto before = static_cast<int>(address % 4 / sizeof(T));  // samples, from a whole word on
  if (x >= before && x - before + (before ? 2 : 1) * kSamples <= width) {
    const auto *const words = reinterpret_cast<const unsigned *>(address - address % 4);
    if (before == 0) return words[0];
    return __funnelshift_r(words[0], words[1], before * kBits);
  }
  unsigned word = 0;
#pragma unroll
  for (int i = 0; i < kSamples; ++i) {
    const bool inside = x + i >= 0 && x + i < width;
    const unsigned sample = inside ? row[x + i] : outside >> (32 - kBits);
    word |= sample << (kBits * i % 32);
  }
  return word;
}

/// Writes the samples of a word that are inside the row.
template <typename T>
__device__ void store_word(T *row, int width, int x, unsigned word) {
  constexpr int kSamples = Packed<T>::kSamples, kBits = 8 * sizeof(T);
  if (x >= 0 && x + kSamples <= width && reinterpret_cast<std::uintptr_t>(row + x) % 4 == 0) {
    *reinterpret_cast<unsigned *>(row + x) = word;
    return;
  }
#pragma unroll
  for (int i = 0; i < kSamples; ++i)
    if (x + i >= 0 && x + i < width) row[x + i] = static_cast<T>(word >> (kBits * i % 32));
}

}  // namespace cudascan
