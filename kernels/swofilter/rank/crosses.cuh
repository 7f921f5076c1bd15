// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Medians, ranks and trimmed means of crosses, in a time that does not depend on the samples. As
/// in line_bits.cuh, a word has one bit of 32 samples of a row or a column, a window is a mask, and
/// a sample of it is found bit by bit; here the row and the column are searched at once. A trimmed
/// mean needs its first and its last sample. On the way to these, samples before the first and
/// after the last one leave a mask, and the sum of the others follows from their counts of bits.
#pragma once
#include "kernels/swofilter/rank/line_bits.cuh"
#include "kernels/swofilter/rank/selection.cuh"

namespace cudascan::swo {

constexpr int kCrossWarps = 8, kCrossThreads = 32 * kCrossWarps;

/// The words of a tile in shared memory.
/// @tparam n  words of a row, and of a column
template <int kBits, int n>
struct CrossTile {
  alignas(16) unsigned rows[kLineTile][n][kBits];
  unsigned columns[n][kBits][kLineTile];

  /// All threads of the block call it.
  /// @param word  row of words of the tile
  template <typename T>
  __device__ void load(const LineBits<T> &bits, int x0, int word) {
    constexpr int kUnits = kBits / 4;
    const int end = min(kLineTile, bits.row_count - word * kLineTile);
    for (int i = threadIdx.x; i < end * n * kUnits; i += kCrossThreads) {
      const int row = i / (n * kUnits), unit = i % (n * kUnits);
      const unsigned *const from = bits.in_row(word * kLineTile + row, x0 / kLineTile);
      reinterpret_cast<uint4 *>(rows[row])[unit] = reinterpret_cast<const uint4 *>(from)[unit];
    }
    const int lane = threadIdx.x % 32;
    for (int i = threadIdx.x / 32; i < n * kUnits; i += kCrossWarps) {
      const int k = i % kUnits * 4;
      const unsigned *const from = bits.down(1, word + i / kUnits, x0 + lane) + k;
      const uint4 four = *reinterpret_cast<const uint4 *>(from);
      auto *const to = columns[i / kUnits] + k;
      to[0][lane] = four.x, to[1][lane] = four.y, to[2][lane] = four.z, to[3][lane] = four.w;
    }
    __syncthreads();
  }

  /// Calls act(bits) from the highest bit on with this bit of all samples in the words of a row,
  /// then a column.
  template <typename Act>
  __device__ __forceinline__ void for_bits(int row, int column, int n_bits, const Act &act) const {
#pragma unroll 1
    for (int k = 0; k < n_bits; k += 4) {
      uint4 four[n];
#pragma unroll
      for (int i = 0; i < n; ++i) four[i] = *reinterpret_cast<const uint4 *>(rows[row][i] + k);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        if (k + j >= n_bits) break;
        unsigned words[2 * n];
#pragma unroll
        for (int i = 0; i < n; ++i) {
          const uint4 &v = four[i];
          words[i] = j == 0 ? v.x : j == 1 ? v.y : j == 2 ? v.z : v.w;
          words[n + i] = columns[i][k + j][column];
        }
        act(words);
      }
    }
  }
};

/// A sample, and how many equal ones of the samples come before it.
struct CrossSample {
  unsigned value;
  int rest;
};

/// Samples of a cross: bits of the words of its row, then of its column.
template <int kBits, int n>
struct CrossMask {
  unsigned mask[2 * n];

  /// @param row     of those in the row
  /// @param column  of those in the column, which may have the middle as well
  /// @param middle  number of the middle in the words of the column
  __device__ CrossMask(const LineWindow<n> &row, const LineWindow<n> &column, int middle) {
#pragma unroll
    for (int i = 0; i < n; ++i) {
      mask[i] = row.mask[i];
      mask[n + i] = column.mask[i] & ~(middle / 32 == i ? 1u << middle % 32 : 0);
    }
  }

  __device__ int count() const {
    return count_ones(mask);
  }

  /// Finds the sample whose index in ascending order is `rank`. Calls removed(i, bits) with the
  /// samples of word i that are smaller, and with larger ones, as it finds them.
  template <typename Removed>
  __device__ __forceinline__ CrossSample at(int rank, const CrossTile<kBits, n> &tile, int row,
                                            int column, const Removed &removed) const {
    unsigned left[2 * n], value = 0;
#pragma unroll
    for (int i = 0; i < 2 * n; ++i) left[i] = mask[i];
    tile.for_bits(row, column, kBits, [&](const unsigned(&bits)[2 * n]) {
      unsigned without[2 * n];  // the bit
#pragma unroll
      for (int i = 0; i < 2 * n; ++i) without[i] = left[i] & ~bits[i];
      const int zeros = count_ones(without);
      const bool one = rank >= zeros;
      const unsigned ones = keep(one ? ~0u : 0);
      if (one) rank -= zeros;
      value = 2 * value + one;
#pragma unroll
      for (int i = 0; i < 2 * n; ++i) {
        removed(i, without[i] & ones, (left[i] & bits[i]) & ~ones);
        left[i] = without[i] ^ (left[i] & ones);
      }
    });
    return {value, rank};
  }

  /// The sum of the samples without `shift` bits.
  __device__ unsigned sum(const CrossTile<kBits, n> &tile, int row, int column, int shift) const {
    unsigned sum = 0;
    tile.for_bits(row, column, kBits - shift, [&](const unsigned(&bits)[2 * n]) {
      unsigned ones[2 * n];
#pragma unroll
      for (int i = 0; i < 2 * n; ++i) ones[i] = mask[i] & bits[i];
      sum = 2 * sum + count_ones(ones);
    });
    return sum;
  }
};

/// The mean of count samples without the first and last t. Sums fit into 32 bits.
template <int kBits, int n>
__device__ unsigned trimmed_mean_of(CrossMask<kBits, n> &between, int count, int t, int shift,
                                    const CrossTile<kBits, n> &tile, int row, int column) {
  const CrossSample first = between.at(
      t, tile, row, column,
      [&](int i, unsigned smaller, unsigned /*larger*/) { between.mask[i] &= ~smaller; });
  const int before = t - first.rest;
  const CrossSample last =
      between.at(count - 1 - t - before, tile, row, column,
                 [&](int i, unsigned /*smaller*/, unsigned larger) { between.mask[i] &= ~larger; });
  // Of the samples equal to the first and to the last one, so many are left out.
  const int after = count - before - between.count();
  const unsigned sum = between.sum(tile, row, column, shift) -
                       (t - before) * (first.value >> shift) - (t - after) * (last.value >> shift);
  const unsigned left = count - 2 * t;
  return (2 * sum + left) / (2 * left) << shift;
}

/// A block has a tile, each warp some rows of it.
/// @tparam side_words   as in LineBits
/// @tparam of_mean  trimmed means instead of ranks
template <typename T, int side_words, bool of_mean>
__global__ void __launch_bounds__(kCrossThreads)
    cross_kernel(const __grid_constant__ LineBitsJob<T> job,
                 const __grid_constant__ SelectionJob<T> selection) {
  constexpr int kBits = LineBits<T>::kBits, kWords = 2 * side_words + 1,
                kMiddle = kLineTile * side_words;
  __shared__ CrossTile<kBits, kWords> tile;
  const LineBits<T> &bits = job.bits;
  const int lane = threadIdx.x % 32, x0 = blockIdx.x * kLineTile, word = blockIdx.y;
  tile.load(bits, x0, word);
  const int x = x0 + lane, end = min(kLineTile, bits.row_count - word * kLineTile);
  int count = 0, rank = 0;
#pragma unroll 1
  for (int i = threadIdx.x / 32; i < end; i += kCrossWarps) {
    const int y = job.begin + word * kLineTile + i;
    const LineSides row(job.in, job.reach, 0, min(x, job.out.width - 1), y),
        column(job.in, job.reach, 1, x, y);
    const int across = kMiddle + lane, down = kMiddle + i;
    CrossMask<kBits, kWords> cross(LineWindow<kWords>(across - row.before, across + row.after),
                                   LineWindow<kWords>(down - column.before, down + column.after),
                                   down);
    const int samples = row.before + row.after + 1 + column.before + column.after;
    if (samples != count) {
      count = samples;
      rank = of_mean                                     ? trimmed(count, selection.alpha)
             : selection.op == SwoFilterOperator::median ? count / 2
                                                         : rank_of(count, selection.percentile);
    }
    unsigned result;
    if constexpr (of_mean)
      result = trimmed_mean_of(cross, count, rank, selection.shift, tile, i, lane);
    else
      result = cross.at(rank, tile, i, lane, [](int, unsigned, unsigned) {}).value;
    if (x < job.out.width) job.out.row(y)[x] = static_cast<T>(result);
  }
}

}  // namespace cudascan::swo
