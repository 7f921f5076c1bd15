// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Images packed to bits, on the GPU. A word has 32 pixels of a row, the leftmost in its lowest
/// bit. Words of one column are adjacent in memory, so threads that process a column read and write
/// whole vectors.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/base/packed_samples.cuh"
#include "kernels/swofilter/window.h"

namespace cudascan::swo::packed {

inline constexpr int kBits = 32;

inline int words_of(int pixels) {
  return (pixels + kBits - 1) / kBits;
}

/// Columns of words.
struct Bits {
  unsigned *words;
  int columns, rows;  // rows: a multiple of four

  __device__ unsigned *at(int column, int row) const {
    return words + static_cast<std::size_t>(column) * rows + row;
  }
  CUDASCAN_HD std::size_t bytes() const { return sizeof(unsigned) * columns * rows; }
  static Bits of(int columns, int rows) { return {nullptr, columns, (rows + 3) / 4 * 4}; }
};

/// How samples become bits, and the values around the image.
struct Meaning {
  unsigned levels;  ///< a pixel that has any of these bits is white
  SwoFilterBorder border;
  bool outside;   ///< bit of pixels outside the image if the border has no samples
  bool inverted;  ///< bits of black pixels inside are 1
};

/// Adds 128 * 2^(first + i) for each sample i of a word that has any of the bits `levels`; for
/// words of eight or more samples.
template <typename T>
__device__ unsigned gather(unsigned word, unsigned levels, int first, unsigned sum) {
  constexpr unsigned kLow = sizeof(T) == 1 ? 0x7f7f7f7f : 0x7fff7fff;
  constexpr unsigned kWeights = sizeof(T) == 1 ? 0x08040201 : 0x02000100;
  const unsigned samples = word & levels;
  const unsigned top = (((samples & kLow) + kLow) | samples) & ~kLow;
  return __dp4a(top, kWeights << first, sum);
}

/// The bits of 32 samples in words.
template <typename T>
__device__ unsigned pack(const unsigned (&words)[8 * sizeof(T)], unsigned levels) {
  constexpr int kWords = 2 * sizeof(T), kSamples = 4 / sizeof(T);  // words of eight samples
  unsigned sums[4]{};
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int k = 0; k < kWords; ++k)
      sums[i] = gather<T>(words[kWords * i + k], levels, kSamples * k, sums[i]);
  return sums[0] >> 7 | sums[1] << 1 | sums[2] << 9 | sums[3] << 17;
}

/// `levels` in each sample of a word.
template <typename T>
__device__ unsigned repeated(unsigned sample) {
  return sample * (sizeof(T) == 1 ? 0x01010101u : 0x00010001u);
}

/// 32 samples as they are read.
template <typename T>
struct SampleVectors {
  static constexpr int kVectors = 2 * sizeof(T);
  uint4 vectors[kVectors];

  /// @param samples  a multiple of 16 bytes
  __device__ void load(const T *samples) {
#pragma unroll
    for (int i = 0; i < kVectors; ++i)
      vectors[i] = __ldg(reinterpret_cast<const uint4 *>(samples) + i);
  }
  __device__ unsigned pack(const Meaning &meaning) const {
    unsigned words[4 * kVectors];
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      words[4 * i] = vectors[i].x;
      words[4 * i + 1] = vectors[i].y;
      words[4 * i + 2] = vectors[i].z;
      words[4 * i + 3] = vectors[i].w;
    }
    const unsigned bits = packed::pack<T>(words, repeated<T>(meaning.levels));
    return meaning.inverted ? ~bits : bits;
  }
};

template <typename T>
__device__ bool is_vector(const T *samples) {
  return reinterpret_cast<std::uintptr_t>(samples) % 16 == 0;
}

/// The bits of the pixels from column x on in row y; both may be outside the image.
template <typename T>
__device__ unsigned pack_word(const Plane<const T> &in, int x, int y, const Meaning &meaning) {
  const int row = resolve(y, in.height, meaning.border);
  if (row < 0) return meaning.outside ? ~0u : 0;
  const T *const samples = in.row(row);
  if (x >= 0 && x + kBits <= in.width) {
    if (is_vector(samples + x)) {
      SampleVectors<T> vectors;
      vectors.load(samples + x);
      return vectors.pack(meaning);
    }
    constexpr int kWords = 8 * sizeof(T);
    unsigned words[kWords];
#pragma unroll
    for (int i = 0; i < kWords; ++i)
      words[i] = load_word(samples, in.width, x + i * Packed<T>::kSamples, 0);
    const unsigned bits = pack<T>(words, repeated<T>(meaning.levels));
    return meaning.inverted ? ~bits : bits;
  }
  const auto is_white = [&](int column) {
    return ((samples[column] & meaning.levels) != 0) != meaning.inverted;
  };
  if (x + kBits <= 0 || x >= in.width) {
    if (meaning.border == SwoFilterBorder::replicate)
      return is_white(x < 0 ? 0 : in.width - 1) ? ~0u : 0;
    if (meaning.border != SwoFilterBorder::reflect) return meaning.outside ? ~0u : 0;
  }
  unsigned bits = 0;
#pragma unroll 8
  for (int i = 0; i < kBits; ++i) {
    const int column = resolve(x + i, in.width, meaning.border);
    const bool bit = column < 0 ? meaning.outside : is_white(column);
    bits |= static_cast<unsigned>(bit) << i;
  }
  return bits;
}

/// The samples of 32 bits, in words.
template <typename Out>
struct Unpacked {
  static constexpr int kSamples = Packed<Out>::kSamples, kWords = kBits / kSamples;
  unsigned words[kWords];

  __device__ Unpacked(unsigned bits, unsigned white) {
    constexpr unsigned kSpread = sizeof(Out) == 1 ? 0x00204081 : 0x00008001;
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      const unsigned some = bits >> (kSamples * i) & ((1 << kSamples) - 1);
      words[i] = (some * kSpread & repeated<Out>(1)) * white;
    }
  }
};

/// Writes 32 pixels from `to` on, a multiple of 16 bytes.
template <typename Out>
__device__ void unpack_vectors(unsigned bits, Out *to, unsigned white) {
  const Unpacked<Out> u(bits, white);
#pragma unroll
  for (int i = 0; i < Unpacked<Out>::kWords / 4; ++i)
    reinterpret_cast<uint4 *>(to)[i] = {u.words[4 * i], u.words[4 * i + 1], u.words[4 * i + 2],
                                        u.words[4 * i + 3]};
}

/// Writes the pixels of a row from column x on that are inside the image.
template <typename Out>
__device__ void unpack_word(unsigned bits, const Plane<Out> &out, int x, int y) {
  Out *const row = out.row(y);
  if (x + kBits <= out.width && is_vector(row + x))
    return unpack_vectors(bits, row + x, out.maximum);
  const Unpacked<Out> u(bits, out.maximum);
#pragma unroll
  for (int i = 0; i < Unpacked<Out>::kWords; ++i)
    store_word(row, out.width, x + i * Unpacked<Out>::kSamples, u.words[i]);
}

/// Assigns 4 columns of 64 words to the threads of a block so that a warp reads whole memory lines
/// of an image and whole sectors of packed bits.
struct WordThreads {
  static constexpr int kThreads = 256, kColumns = 4, kRows = kThreads / kColumns;

  static dim3 blocks(int columns, int rows) {
    return dim3((columns + kColumns - 1) / kColumns, (rows + kRows - 1) / kRows);
  }
  static __device__ int column() { return blockIdx.x * kColumns + threadIdx.x % kColumns; }
  static __device__ int row() { return blockIdx.y * kRows + threadIdx.x / kColumns; }
};

}  // namespace cudascan::swo::packed
