// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Counters of 8-bit samples with the tensor cores.
#pragma once
#include <cuda_runtime.h>

#include "kernels/base/ptx.cuh"
#include "kernels/base/warp_sums.cuh"
#include "kernels/histogram.h"
#include "kernels/histogram/counters/samples.cuh"

namespace cudascan::histogram {

/// Turns bytes into bits: word i of the result has bit i of all bytes, in the same order for every
/// i.
__device__ inline void gather_bits(unsigned (&w)[8]) {
  // A square of 8 x 8 bits is transposed by exchanging its quarters, then the quarters of each
  // quarter, and so on.
  constexpr unsigned kLower[] = {0x55555555, 0x33333333, 0x0f0f0f0f};
#pragma unroll
  for (int k = 2; k >= 0; --k) {
    const int distance = 1 << k;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      if (i & distance) continue;
      const unsigned a = w[i], b = w[i + distance];
      w[i] = (a & kLower[k]) | (b << distance & ~kLower[k]);
      w[i + distance] = (a >> distance & kLower[k]) | (b & ~kLower[k]);
    }
  }
}

/// 256 levels of 8 bits, with the tensor cores of sm_80 and newer. The upper four bits of a level
/// are its row, and the lower four its column. For 256 samples at a time, a matrix of 16 x 256 bits
/// says which samples are in each row, and one of 256 x 16 bits says which are in each column.
/// Their product is the number of samples of each level. The sums stay in registers, and the time
/// does not depend on the image.
///
/// A lane gets its part of these matrices from other lanes, through shared memory: for each of the
/// 8 values of three bits, the samples that have it, and the fourth bit of the samples.
template <int kept>
class MatrixCounters {
 public:
  static constexpr int kThreads = 512;
  static constexpr int kTogether = 2, kVectors = kUnlimited;
  static constexpr int kBytes = kThreads / 32 * 18 * 36 * 4, kKept = kept, kCopies = 8;
  static constexpr bool kMany = false, kTable = false;

  __device__ MatrixCounters(unsigned char *memory, const Levels &) : memory_(memory) {
    const unsigned warp =
        shared_address(memory) + __shfl_sync(kWholeWarp, threadIdx.x / 32, 0) * kWarpBytes;
    to_ = warp + place(threadIdx.x % 4, threadIdx.x % 32 / 4);
    from_bit_ = warp + place(threadIdx.x % 4, 0);
    from_ = from_bit_ + threadIdx.x % 32 / 4 * kMaskBytes;
  }

  __device__ void clear() {}

  template <typename Emit>
  __device__ void add(const VectorSamples (&samples)[kTogether], const Emit &) {
    const uint4 &v = samples[0].vector, &w = samples[1].vector;
    absent_ += 32 - samples[0].n - samples[1].n;
    unsigned bits[8] = {v.x, v.y, v.z, v.w, w.x, w.y, w.z, w.w};
    gather_bits(bits);
    __syncwarp();
    store_masks(kRows, bits[4], bits[5], bits[6], bits[7]);
    store_masks(kColumns, bits[0], bits[1], bits[2], bits[3]);
    __syncwarp();
    unsigned row[8], row_bit[8], column[8], column_bit[8];
    load_masks(kRows, row, row_bit);
    load_masks(kColumns, column, column_bit);
#pragma unroll
    for (int i = 0; i < 8; i += 2) {
      const int k = i + 1;
      const unsigned rows[4] = {row[i] & ~row_bit[i], row[i] & row_bit[i], row[k] & ~row_bit[k],
                                row[k] & row_bit[k]};
      const unsigned low[2] = {column[i] & ~column_bit[i], column[k] & ~column_bit[k]};
      const unsigned high[2] = {column[i] & column_bit[i], column[k] & column_bit[k]};
      add_common_bits(sums_[0], rows, low);
      add_common_bits(sums_[1], rows, high);
    }
  }

  template <typename Emit>
  __device__ void collect(bool last, const Emit &emit) {
    if (!last) return;
    // A lane has rows r and r + 8 and columns c, c + 1, c + 8 and c + 9, in this order:
    // (r, c), (r, c + 1), (r + 8, c), (r + 8, c + 1), then the same with c + 8.
    constexpr int kStride = 40;  // so that the lanes of a warp find their levels in different banks
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const unsigned absent = warp_sum(absent_);
    if (lane == 0) sums_[0][0] -= static_cast<int>(absent);
    auto *const mine = reinterpret_cast<int *>(memory_ + warp * kWarpBytes) + lane;
    __syncwarp();
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const int half = i / 4, lower = i % 4 / 2, odd = i % 2;
      mine[(lower * 4 + half * 2 + odd) * kStride] = sums_[half][i % 4];
    }
    __syncthreads();
    const int level = static_cast<int>(threadIdx.x), row = level / 16, column = level % 16;
    if (row >= 16) return;
    const int at =
        (row / 8 * 4 + column / 8 * 2 + column % 2) * kStride + row % 8 * 4 + column % 8 / 2;
    unsigned sum = 0;
#pragma unroll
    for (int w = 0; w < kThreads / 32; ++w)
      sum += reinterpret_cast<const unsigned *>(memory_ + w * kWarpBytes)[at];
    emit(level, sum);
  }

 private:
  // A mask is 32 words, one from each lane. Words that a lane reads together are next to each
  // other. With 4 more words, neighbouring masks begin in different banks.
  static constexpr unsigned kMaskBytes = 36 * 4;
  // Masks of the values of three bits, then the fourth bit; for rows and for columns.
  static constexpr unsigned kRows = 0, kColumns = 9 * kMaskBytes;
  static constexpr unsigned kWarpBytes = 18 * kMaskBytes;

  /// Index of the word of lane 4 i + k in a mask.
  static __device__ unsigned place(unsigned k, unsigned i) {
    return (8 * k + i) * 4;
  }

  __device__ void store_masks(unsigned offset, unsigned bit0, unsigned bit1, unsigned bit2,
                              unsigned bit3) const {
#pragma unroll
    for (int i = 0; i < 8; ++i)
      store_shared(to_ + offset + i * kMaskBytes,
                   (i & 1 ? bit0 : ~bit0) & (i & 2 ? bit1 : ~bit1) & (i & 4 ? bit2 : ~bit2));
    store_shared(to_ + offset + 8 * kMaskBytes, bit3);
  }
  __device__ void load_masks(unsigned offset, unsigned (&mask)[8], unsigned (&bit)[8]) const {
#pragma unroll
    for (int i = 0; i < 8; i += 4) {
      unsigned masks[4], bits[4];
      load_shared(from_ + offset + 4 * i, masks);
      load_shared(from_bit_ + offset + 8 * kMaskBytes + 4 * i, bits);
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        mask[i + k] = masks[k];
        bit[i + k] = bits[k];
      }
    }
  }

  unsigned char *memory_;
  unsigned to_, from_, from_bit_;  // addresses in the warp's masks
  int sums_[2][4]{};               // of columns below 8, and from 8 on
  unsigned absent_ = 0;            // samples that were added as 0 but do not count
};

}  // namespace cudascan::histogram
