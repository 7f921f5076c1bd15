// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// How extrema are written.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "common/plane.h"
#include "kernels/base/packed_samples.cuh"

namespace cudascan::swo::extremes {

enum class ExtremaFinish {
  none,
  minus_other,  // extremum - the other image
  other_minus,  // the other image - extremum
  midpoint,     // the middle between both
};

/// Writes extrema, or an operator's results from them.
template <typename T>
struct ExtremaSink {
  Plane<T> out;
  ExtremaFinish finish;
  Plane<const T> other;
  Plane<const T> in;  // the midpoint if a window has no samples
  int shift;
  Plane<const T> also{};  // unless empty, extrema that are combined with those to be written
  bool largest = false;   // they are maxima

  /// Whether four words can be written at once, at multiples of 16 bytes, without changes.
  __device__ bool takes_quads() const {
    return finish == ExtremaFinish::none && !also.data &&
           (reinterpret_cast<std::uintptr_t>(out.data) | out.stride) % 16 == 0;
  }
  /// Writes four words of extrema from column x of row y on, a multiple of 16 bytes.
  __device__ void store(int x, int y, const uint4 &words) const {
    constexpr int kSamples = Packed<T>::kSamples;
    if (takes_quads() && x + 4 * kSamples <= out.width) {
      *reinterpret_cast<uint4 *>(out.row(y) + x) = words;
      return;
    }
    store_all(x, y, words);
  }
  /// The same for one word.
  __device__ void store(int x, int y, unsigned word) const {
    if (also.data) {
      const auto a = Packed<T>::of(word),
                 b = Packed<T>::of(load_word(also.row(y), out.width, x, 0));
      word = (largest ? Largest{}(a, b) : Smallest{}(a, b)).word();
    }
    if (finish != ExtremaFinish::none)
      word =
          finished(word, load_word(other.row(y), out.width, x, 0),
                   finish == ExtremaFinish::midpoint ? load_word(in.row(y), out.width, x, 0) : 0);
    store_word(out.row(y), out.width, x, word);
  }

 private:
  /// Kept apart from the other code, so that less code is loaded while the kernel runs.
  __device__ __noinline__ void store_all(int x, int y, uint4 words) const {
    constexpr int kSamples = Packed<T>::kSamples;
    store(x, y, words.x);
    store(x + kSamples, y, words.y);
    store(x + 2 * kSamples, y, words.z);
    store(x + 3 * kSamples, y, words.w);
  }
  __device__ unsigned finished(unsigned word, unsigned other_word, unsigned in_word) const {
    constexpr int kBits = 8 * sizeof(T);
    unsigned result = 0;
#pragma unroll
    for (int i = 0; i < Packed<T>::kSamples; ++i) {
      const auto sample = [&](unsigned word) { return word >> (kBits * i) & ((1u << kBits) - 1); };
      const unsigned a = sample(word), b = sample(other_word);
      unsigned v;
      if (finish == ExtremaFinish::minus_other)
        v = a - min(a, b);
      else if (finish == ExtremaFinish::other_minus)
        v = b - min(a, b);
      else
        v = a < b ? sample(in_word) : (((a >> shift) + (b >> shift) + 1) >> 1) << shift;
      result |= v << (kBits * i);
    }
    return result;
  }
};

}  // namespace cudascan::swo::extremes
