// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Directional medians of lines of any length, in a time that does not depend on the samples. A
/// word has one bit of 32 samples that follow one another on a line. A median is found bit by bit
/// from the highest one on: the zeros among the samples of the window that have the known bits are
/// counted (radix selection; Ataman, Aatre, Wong, "A fast method for real-time median filtering",
/// IEEE Trans. ASSP 28(4), 1980), and samples with the other bit leave the window, which is a mask.
/// Carry-save adders halve the number of counts of bits (Warren, Hacker's Delight, 5-1).
///
/// Kernels first write the words of each direction, with samples outside the image as far as
/// windows need them. Lanes of a warp then process 32 neighbouring pixels of a line, so they read
/// the same words; on diagonals of a tile of 32 x 32 pixels, those of two lines.
#pragma once
#include "kernels/base/ptx.cuh"
#include "kernels/base/warp_sums.cuh"
#include "kernels/swofilter/rank/line_reach.cuh"

namespace cudascan::swo {

/// Side of a tile of pixels, and samples of a word.
constexpr int kLineTile = 32;
constexpr int kRowBitsThreads = 256, kRowBitsWords = 4, kDownBitsThreads = 128,
              kLineMediansThreads = 32 * kLines;

/// The words of a band of rows, whose first row and whose words begin at multiples of 32. All bits
/// of the same 32 samples are adjacent, the highest ones first.
template <typename T>
struct LineBits {
  static constexpr int kBits = 8 * sizeof(T);

  int side_words;    ///< words needed on each side of a pixel's
  int row_words;     ///< of a row
  int row_count;     ///< rows
  int down_columns;  ///< of a row of words down the lines
  int down_count;    ///< rows of words
  unsigned *row_bits, *down_bits;

  LineBits(int width, int rows, int side_words)
      : side_words(side_words),
        row_words((width + kLineTile - 1) / kLineTile + 2 * side_words),
        row_count(rows),
        down_columns((width + kLineTile - 1) / kLineTile * kLineTile + 2 * margin()),
        down_count((rows + kLineTile - 1) / kLineTile + 2 * side_words) {}

  std::size_t row_size() const { return std::size_t(row_words) * row_count * kBits; }
  /// Of one direction, in words.
  CUDASCAN_HD std::size_t down_size() const {
    return std::size_t(down_columns) * down_count * kBits;
  }
  /// @param down_lines  directions down
  std::size_t bytes(int down_lines) const {
    return (row_size() + down_lines * down_size()) * sizeof(unsigned);
  }

  /// Columns before the image: words of diagonals begin that far outside.
  CUDASCAN_HD int margin() const { return kLineTile * (side_words + 1); }
  /// The bits of word number `word` of a row of the band. The first words are left of the image.
  __device__ unsigned *in_row(int row, int word) const {
    return row_bits + (std::size_t(row) * row_words + word) * kBits;
  }
  /// The bits of the word whose first sample is in column x, in row of words `word`.
  __device__ unsigned *down(int line, int word, int x) const {
    return down_bits + (line - 1) * down_size() +
           (std::size_t(word) * down_columns + x + margin()) * kBits;
  }
};

template <typename T>
struct LineBitsJob {
  Source<T> in;
  Plane<T> out;
  LineReach reach;
  int begin;  ///< first row of the band
  LineBits<T> bits;
};

/// Words along rows. Each warp writes kRowBitsWords words.
template <typename T>
__global__ void __launch_bounds__(kRowBitsThreads)
    row_bits_kernel(const __grid_constant__ LineBitsJob<T> job) {
  constexpr int kBits = LineBits<T>::kBits;
  const LineBits<T> &bits = job.bits;
  const int lane = threadIdx.x % 32, row = blockIdx.y;
  const int first = (blockIdx.x * (kRowBitsThreads / 32) + threadIdx.x / 32) * kRowBitsWords;
  for (int word = first; word < min(first + kRowBitsWords, bits.row_words); ++word) {
    const unsigned sample =
        sample_or_zero(job.in, (word - bits.side_words) * kLineTile + lane, job.begin + row);
    unsigned mine = 0;
#pragma unroll
    for (int i = 0; i < kBits; ++i) {
      const unsigned all = __ballot_sync(kWholeWarp, sample >> (kBits - 1 - i) & 1);
      if (lane == i) mine = all;
    }
    if (lane < kBits) bits.in_row(row, word)[lane] = mine;
  }
}

/// Words down the columns and the diagonals.
template <typename T>
__global__ void __launch_bounds__(kDownBitsThreads)
    down_bits_kernel(const __grid_constant__ LineBitsJob<T> job) {
  constexpr int kBits = LineBits<T>::kBits;
  const LineBits<T> &bits = job.bits;
  const int column = blockIdx.x * kDownBitsThreads + threadIdx.x, word = blockIdx.y;
  const int line = blockIdx.z + 1, step = line_step(line);
  if (column >= bits.down_columns) return;
  const int x = column - bits.margin(), y = job.begin + (word - bits.side_words) * kLineTile;
  unsigned words[kBits]{};
#pragma unroll 8
  for (int i = 0; i < kLineTile; ++i) {
    const unsigned sample = sample_or_zero(job.in, x + step * i, y + i);
#pragma unroll
    for (int k = 0; k < kBits; ++k)
      words[k] = __funnelshift_r(words[k], sample >> (kBits - 1 - k), 1);
  }
  auto *const to = reinterpret_cast<uint4 *>(bits.down(line, word, x));
#pragma unroll
  for (int k = 0; k < kBits; k += 4)
    to[k / 4] = uint4{words[k], words[k + 1], words[k + 2], words[k + 3]};
}

/// The number of ones in all words.
template <int n>
__device__ __forceinline__ int count_ones(const unsigned (&v)[n]) {
  if constexpr (n <= 2) {
    int ones = __popc(v[0]);
    if constexpr (n == 2) ones += __popc(v[1]);
    return ones;
  } else {
    constexpr int kAdders = (n - 1) / 2;
    unsigned sum = v[0], carries[kAdders];
#pragma unroll
    for (int i = 0; i < kAdders; ++i) {
      const unsigned a = v[2 * i + 1], b = v[2 * i + 2];
      carries[i] = (sum & a) | (sum & b) | (a & b);
      sum ^= a ^ b;
    }
    int ones = __popc(sum) + 2 * count_ones(carries);
    if constexpr (n % 2 == 0) ones += __popc(v[n - 1]);
    return ones;
  }
}

/// The samples of a window among those of n words.
template <int n>
struct LineWindow {
  unsigned mask[n];
  int count;

  /// @param first, last  numbers of samples
  __device__ __forceinline__ LineWindow(int first, int last) : count(last - first + 1) {
#pragma unroll
    for (int i = 0; i < n; ++i)
      mask[i] = first_ones(last + 1 - 32 * i) & ~first_ones(first - 32 * i);
  }

  /// The sample whose index in ascending order is `rank`.
  /// @param words   from the highest bits of the first word on
  /// @param stride  from one word of the line to the next
  template <int kBits>
  __device__ __forceinline__ unsigned at(int rank, const unsigned *words, int stride) const {
    unsigned left[n], value = 0;
#pragma unroll
    for (int i = 0; i < n; ++i) left[i] = mask[i];
#pragma unroll
    for (int k = 0; k < kBits; k += 4) {
      unsigned bits[4][n];
#pragma unroll
      for (int i = 0; i < n; ++i) {
        const uint4 four = *reinterpret_cast<const uint4 *>(words + i * stride + k);
        bits[0][i] = four.x, bits[1][i] = four.y, bits[2][i] = four.z, bits[3][i] = four.w;
      }
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        unsigned without[n];  // the bit
#pragma unroll
        for (int i = 0; i < n; ++i) without[i] = left[i] & ~bits[j][i];
        const int zeros = count_ones(without);
        const bool one = rank >= zeros;
        const unsigned ones = keep(one ? ~0u : 0);
        if (one) rank -= zeros;
        value |= ones & 1u << (kBits - 1 - k - j);
#pragma unroll
        for (int i = 0; i < n; ++i) left[i] = without[i] ^ (left[i] & ones);
      }
    }
    return value;
  }

 private:
  static __device__ __forceinline__ unsigned first_ones(int k) {
    return __funnelshift_lc(~0u, 0u, max(k, 0));
  }
};

/// A block processes a tile, each warp one direction.
/// @tparam side_words  as in LineBits
template <typename T, int side_words>
__global__ void __launch_bounds__(kLineMediansThreads, 5)
    line_medians_kernel(const __grid_constant__ LineBitsJob<T> job) {
  constexpr int kBits = LineBits<T>::kBits, kWords = 2 * side_words + 1;
  constexpr int kPitch = kLineTile + 4 / sizeof(T);  // a column is in as many banks as it can be
  __shared__ T medians[kLines][kLineTile][kPitch];
  const LineBits<T> &bits = job.bits;
  const int lane = threadIdx.x % 32, line = threadIdx.x / 32;
  const auto step = static_cast<int>(keep(line_step(line)));
  const int x0 = blockIdx.x * kLineTile, word = blockIdx.y, y0 = job.begin + word * kLineTile;
  const int longest = max(job.reach.row, job.reach.column);
  const bool same = job.in.border != SwoFilterBorder::clip ||
                    (job.in.holds(x0, y0, longest, longest) &&
                     job.in.holds(x0 + kLineTile - 1, y0 + kLineTile - 1, longest, longest));
  const auto window_of = [&](int before, int after) {
    const int middle = side_words * 32 + lane;
    return LineWindow<kWords>(middle - before, middle + after);
  };
  const bool is_row = line == 0;
  const unsigned *const base = is_row ? bits.in_row(word * kLineTile, x0 / kLineTile)
                                      : bits.down(line, word, x0 - step * (lane + 32 * side_words));
  const int stride = (is_row ? 1 : bits.down_columns + 32 * step) * kBits;
  // Words of rows exist only as far as the band.
  const int end = is_row ? min(kLineTile, bits.row_count - word * kLineTile) : kLineTile;
  auto window = window_of(job.reach.of(line), job.reach.of(line));
#pragma unroll 1
  for (int i = 0; i < end; ++i) {
    const int row = is_row ? i : lane, column = is_row ? lane : (i + step * lane) & 31;
    if (!same) {
      const LineSides sides(job.in, job.reach, line, x0 + column, y0 + row);
      window = window_of(sides.before, sides.after);
    }
    const unsigned *const words = base + (is_row ? i * bits.row_words : column) * kBits;
    medians[line][row][column] =
        static_cast<T>(window.template at<kBits>(window.count / 2, words, stride));
  }
  __syncthreads();
  const int x = x0 + lane;
  for (int i = line; i < kLineTile; i += kLines) {
    if (x >= job.out.width || word * kLineTile + i >= bits.row_count) return;
    const T a = medians[0][i][lane], b = medians[1][i][lane], c = medians[2][i][lane],
            d = medians[3][i][lane];
    const T smallest = min(min(a, b), min(c, d)), largest = max(max(a, b), max(c, d));
    job.out.row(y0 + i)[x] = max(smallest, min(largest, job.in.plane.row(y0 + i)[x]));
  }
}

}  // namespace cudascan::swo
