// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Reads and writes four neighbouring pixels of an image in RGB at once, as words.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/luma.h"

namespace cudascan::lumas {

/// Pixels of a quad.
inline constexpr int kQuad = 4;

/// The number of words that a quad of single samples takes.
template <typename T>
inline constexpr int kWords = kQuad * sizeof(T) / 4;

/// Words at an address that is aligned to all of them, at most 16 bytes.
template <int n>
__device__ inline void load_words(const void *from, unsigned (&words)[n]) {
  if constexpr (n % 4 == 0) {
#pragma unroll
    for (int i = 0; i < n / 4; ++i) {
      const uint4 v = static_cast<const uint4 *>(from)[i];
      words[4 * i] = v.x, words[4 * i + 1] = v.y, words[4 * i + 2] = v.z, words[4 * i + 3] = v.w;
    }
  } else if constexpr (n % 2 == 0) {
#pragma unroll
    for (int i = 0; i < n / 2; ++i) {
      const uint2 v = static_cast<const uint2 *>(from)[i];
      words[2 * i] = v.x, words[2 * i + 1] = v.y;
    }
  } else {
#pragma unroll
    for (int i = 0; i < n; ++i) words[i] = static_cast<const unsigned *>(from)[i];
  }
}
template <int n>
__device__ inline void store_words(const unsigned (&words)[n], void *to) {
  if constexpr (n % 4 == 0) {
#pragma unroll
    for (int i = 0; i < n / 4; ++i)
      static_cast<uint4 *>(to)[i] = {words[4 * i], words[4 * i + 1], words[4 * i + 2],
                                     words[4 * i + 3]};
  } else if constexpr (n % 2 == 0) {
#pragma unroll
    for (int i = 0; i < n / 2; ++i) static_cast<uint2 *>(to)[i] = {words[2 * i], words[2 * i + 1]};
  } else {
#pragma unroll
    for (int i = 0; i < n; ++i) static_cast<unsigned *>(to)[i] = words[i];
  }
}

/// The alignment in bytes that load_words() needs.
template <int n>
inline constexpr int kAlignment = n % 4 == 0   ? 16
                                  : n % 2 == 0 ? 8
                                               : 4;

/// Sample i of words.
template <typename T, int n>
__device__ inline unsigned sample_of(const unsigned (&words)[n], int i) {
  if constexpr (sizeof(T) == 1) return words[i / 4] >> (8 * (i % 4)) & 0xff;
  return words[i / 2] >> (16 * (i % 2)) & 0xffff;
}
/// Adds sample i, which is 0 before.
template <typename T, int n>
__device__ inline void add_sample(unsigned (&words)[n], int i, unsigned sample) {
  if constexpr (sizeof(T) == 1)
    words[i / 4] |= sample << (8 * (i % 4));
  else
    words[i / 2] |= sample << (16 * (i % 2));
}

/// How the samples of an image lie. For packed pixels, `offset` has the places of red, green, blue
/// and the fourth sample in a pixel; if there is no fourth one, it has that of red again.
struct QuadLayout {
  int offset[4];
};

/// Four pixels: red, green, blue and the fourth sample of each.
struct Quad {
  unsigned sample[kQuad][4];
};

/// Selects one of up to four registers by a number that is known at run time.
template <int n>
__device__ inline unsigned pick(const unsigned (&of)[n], int i) {
  unsigned picked = of[0];
#pragma unroll
  for (int k = 1; k < n; ++k) picked = i == k ? of[k] : picked;
  return picked;
}

/// @param at  first sample of the first pixel of each plane; for packed pixels only the first
///            counts, and it is where the pixel begins
template <typename T, int step>
__device__ inline Quad load_quad(const T *const (&at)[4], const QuadLayout &layout) {
  Quad quad;
  if constexpr (step == 1) {
#pragma unroll
    for (int c = 0; c < 3; ++c) {
      unsigned words[kWords<T>];
      load_words(at[c], words);
#pragma unroll
      for (int i = 0; i < kQuad; ++i) quad.sample[i][c] = sample_of<T>(words, i);
    }
#pragma unroll
    for (int i = 0; i < kQuad; ++i) quad.sample[i][3] = 0;
  } else {
    unsigned words[step * kWords<T>];
    load_words(at[0], words);
#pragma unroll
    for (int i = 0; i < kQuad; ++i) {
      unsigned pixel[step];
#pragma unroll
      for (int k = 0; k < step; ++k) pixel[k] = sample_of<T>(words, i * step + k);
#pragma unroll
      for (int c = 0; c < 4; ++c) quad.sample[i][c] = pick(pixel, layout.offset[c]);
    }
  }
  return quad;
}

template <typename T, int step>
__device__ inline void store_quad(const Quad &quad, const QuadLayout &layout, T *const (&at)[4]) {
  if constexpr (step == 1) {
#pragma unroll
    for (int c = 0; c < 3; ++c) {
      unsigned words[kWords<T>] = {};
#pragma unroll
      for (int i = 0; i < kQuad; ++i) add_sample<T>(words, i, quad.sample[i][c]);
      store_words(words, at[c]);
    }
  } else {
    unsigned words[step * kWords<T>] = {};
#pragma unroll
    for (int i = 0; i < kQuad; ++i)
#pragma unroll
      for (int k = 0; k < step; ++k) {
        unsigned sample = quad.sample[i][3];
#pragma unroll
        for (int c = 0; c < 3; ++c) sample = layout.offset[c] == k ? quad.sample[i][c] : sample;
        add_sample<T>(words, i * step + k, sample);
      }
    store_words(words, at[0]);
  }
}

}  // namespace cudascan::lumas
