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
  Plane<const T> other;  // or none, if both extrema are given to store_both()
  Plane<const T> in;     // the midpoint if a window has no samples
  int shift;

  /// Whether all rows, also those of the other image, begin at multiples of so many bytes.
  __host__ __device__ bool is_aligned(unsigned bytes) const {
    auto bits = reinterpret_cast<std::uintptr_t>(out.data) | out.stride;
    if (finish != ExtremaFinish::none)
      bits |= reinterpret_cast<std::uintptr_t>(other.data) | other.stride;
    return bits % bytes == 0;
  }
  /// Whether four words can be written at once, at multiples of 16 bytes, without changes.
  __host__ __device__ bool takes_quads() const {
    return finish == ExtremaFinish::none && is_aligned(16);
  }
  /// Whether four words can be combined with those of the other image and written at once.
  __host__ __device__ bool finishes_quads() const {
    return finish != ExtremaFinish::none && is_aligned(16);
  }
  /// Writes four words of extrema from column x of row y on, a multiple of 16 bytes.
  __device__ void store(int x, int y, const uint4 &words) const {
    if (takes_quads())
      store_quad(x, y, words);
    else
      store_all(x, y, words);
  }
  /// Writes four words of results, if is_aligned(16).
  __device__ void store_quad(int x, int y, const uint4 &words) const {
    T *const row = out.row(y);
    if (x + 4 * kSamples <= out.width) {
      *reinterpret_cast<uint4 *>(row + x) = words;
      return;
    }
    // Not store_words(): erosions by small rectangles take 5 % longer with a call here.
    store_word(row, out.width, x, words.x);
    store_word(row, out.width, x + kSamples, words.y);
    store_word(row, out.width, x + 2 * kSamples, words.z);
    store_word(row, out.width, x + 3 * kSamples, words.w);
  }
  /// Four words of the other image, if finishes_quads().
  __device__ uint4 other_quad(int x, int y) const {
    const T *const row = other.row(y);
    if (x + 4 * kSamples <= out.width) return *reinterpret_cast<const uint4 *>(row + x);
    return other_words(row, x);
  }
  /// Writes one word of extrema, anywhere.
  __device__ void store(int x, int y, unsigned word) const {
    if (finish != ExtremaFinish::none)
      word = finished(x, y, word, load_word(other.row(y), out.width, x, 0));
    store_word(out.row(y), out.width, x, word);
  }
  /// The same as a call, for words that few threads write.
  __device__ __noinline__ void store_any(int x, int y, unsigned word) const { store(x, y, word); }
  /// Writes what both extrema give, where the smallest are those of the other image.
  __device__ void store_both(int x, int y, const uint4 &smallest, const uint4 &largest) const {
    const uint4 words = finished(x, y, largest, smallest);
    if (is_aligned(16))
      store_quad(x, y, words);
    else
      store_words(out.row(y), x, words);
  }
  /// The results for four words, from those of the other image.
  __device__ uint4 finished(int x, int y, const uint4 &words, const uint4 &others) const {
    return {finished(x, y, words.x, others.x), finished(x + kSamples, y, words.y, others.y),
            finished(x + 2 * kSamples, y, words.z, others.z),
            finished(x + 3 * kSamples, y, words.w, others.w)};
  }
  /// The result for the samples of a word, from those of the other image.
  __device__ unsigned finished(int x, int y, unsigned word, unsigned other_word) const {
    const auto a = Packed<T>::of(word), b = Packed<T>::of(other_word);
    if (finish == ExtremaFinish::minus_other) return word - Smallest{}(a, b).word();
    if (finish == ExtremaFinish::other_minus) return other_word - Smallest{}(a, b).word();
    const unsigned result = middle(word, other_word);
    const unsigned empty = word ^ Largest {}(a, b).word();
    return empty == 0 ? result : filled(x, y, result, empty);
  }

 private:
  static constexpr int kSamples = Packed<T>::kSamples, kBits = 8 * sizeof(T);
  static constexpr unsigned kSampleMask = (1u << kBits) - 1, kAllSamples = ~0u / kSampleMask;

  // Kept apart from the other code, so that less code is loaded while the kernel runs.
  __device__ __noinline__ void store_words(T *row, int x, uint4 words) const {
    store_word(row, out.width, x, words.x);
    store_word(row, out.width, x + kSamples, words.y);
    store_word(row, out.width, x + 2 * kSamples, words.z);
    store_word(row, out.width, x + 3 * kSamples, words.w);
  }
  __device__ __noinline__ uint4 other_words(const T *row, int x) const {
    return {load_word(row, out.width, x, 0), load_word(row, out.width, x + kSamples, 0),
            load_word(row, out.width, x + 2 * kSamples, 0),
            load_word(row, out.width, x + 3 * kSamples, 0)};
  }
  __device__ __noinline__ void store_all(int x, int y, uint4 words) const {
    store(x, y, words.x);
    store(x + kSamples, y, words.y);
    store(x + 2 * kSamples, y, words.z);
    store(x + 3 * kSamples, y, words.w);
  }
  /// The middle between each two samples, rounded up in levels.
  __device__ unsigned middle(unsigned a, unsigned b) const {
    const unsigned levels = (kSampleMask >> shift) * kAllSamples;
    a = a >> shift & levels;
    b = b >> shift & levels;
    return ((a | b) - ((a ^ b) >> 1 & (kSampleMask >> 1) * kAllSamples)) << shift;
  }
  /// A result with the samples of the image wherever `empty` is not 0.
  __device__ __noinline__ unsigned filled(int x, int y, unsigned result, unsigned empty) const {
    const unsigned word = load_word(in.row(y), out.width, x, 0);
#pragma unroll
    for (unsigned sample = kSampleMask; sample != 0; sample <<= kBits % 32)
      if (empty & sample) result = (result & ~sample) | (word & sample);
    return result;
  }
};

}  // namespace cudascan::swo::extremes
