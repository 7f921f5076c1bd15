// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Medians and ranks of rectangles of 8-bit samples, or of bins of 16-bit samples. The time is the
/// same for all images, or less if columns add the same samples that they remove. As in Perreault
/// and Hebert ("Median filtering in constant time", IEEE Trans. Image Processing 16(9), 2007), a
/// block keeps the histogram of each of its columns over the rows of the window, and a step down
/// removes one sample from each and adds one. But here each thread finds the result of one pixel
/// alone, digit by digit. The number of samples in the window that have 0, 1, 2 and 3 as the next
/// base-4 digit after the known digits is a sum over its columns. So a column has four one-byte
/// counts, in one word, for each prefix of zero to three digits.
///
/// The counts for one prefix are adjacent for neighbouring columns. Lanes read neighbouring
/// columns, so there are no bank conflicts, whatever digits each lane has found.
#pragma once
#include "kernels/base/ptx.cuh"
#include "kernels/swofilter/rank/selection.cuh"

namespace cudascan::swo {

constexpr int kDigits = 4;
/// The prefixes of zero to three digits: 1 + 4 + 16 + 64.
constexpr int kBeginnings = 85;
/// Bytes of shared memory for a column, and the most columns of a block.
constexpr int kDigitsColumnBytes = kBeginnings * 4, kMostDigitsColumns = 672;

/// The counts of a column. Byte i of a word is the number of samples with this prefix whose next
/// digit is i or less.
class DigitCounts {
 public:
  /// @param words    those of this column
  /// @param columns  distance of two prefixes in words
  __device__ DigitCounts(unsigned *words, int columns) : words_(words), columns_(columns) {}

  /// @param digits     known digits of the sample
  /// @param beginning  these digits (the prefix) as a number
  __device__ unsigned *word(int digits, unsigned beginning) const {
    return words_ + (((1u << (2 * digits)) - 1) / 3 + beginning) * columns_;
  }
  /// Adds a sample, or removes it with by = -1.
  __device__ void change(unsigned sample, unsigned by) const {
#pragma unroll
    for (int i = 0; i < kDigits; ++i)
      *word(i, sample >> (8 - 2 * i)) += (by * 0x01010101) << (8 * (sample >> (6 - 2 * i) & 3));
  }

  /// Adds the samples of a column from row y to row `last`.
  template <typename Column>
  __device__ void fill(const Column &column, int y, int last) const {
    constexpr int kAhead = 8;
#pragma unroll 1
    for (; y <= last; y += kAhead) {
      int samples[kAhead];
#pragma unroll
      for (int i = 0; i < kAhead; ++i) samples[i] = y + i <= last ? column.sample(y + i) : -1;
#pragma unroll
      for (int i = 0; i < kAhead; ++i)
        if (samples[i] >= 0) change(samples[i], 1);
    }
  }
  /// Moves down by a row.
  /// @param leaves, enters  samples, or -1 for none
  __device__ void step(int leaves, int enters) const {
    if (leaves == enters) return;
    if (leaves >= 0) change(leaves, -1u);
    if (enters >= 0) change(enters, 1);
  }

 private:
  unsigned *words_;
  int columns_;
};

/// Sums of the counts of many columns. They do not fit into bytes. The two halves of a word sum
/// bytes 0 and 2. The sum of byte 1 then follows from the sum of the words, because 256 times byte
/// 1 cannot overflow into byte 3's share. Differences of sums are exact even if these overflowed.
class DigitSums {
 public:
  DigitSums() = default;
  __device__ explicit DigitSums(uint2 words) : all_(words.x), even_(words.y) {}
  __device__ uint2 words() const { return {all_, even_}; }
  __device__ DigitSums operator-(const DigitSums &other) const {
    return DigitSums(uint2{all_ - other.all_, even_ - other.even_});
  }
  __device__ void operator+=(const DigitSums &other) { all_ += other.all_, even_ += other.even_; }
  /// Adds the counts of four columns.
  __device__ void add(const uint4 &four) {
    all_ += four.x + four.y + four.z + four.w;
    even_ += (four.x & kEven) + (four.y & kEven) + (four.z & kEven) + (four.w & kEven);
  }

  /// @param n      words
  /// @tparam batch  so many words can be added without a byte overflowing; a power of 2
  template <int batch>
  __device__ void add(const unsigned *words, int n) {
    const auto take = [&]<int count>() {
      unsigned sum = 0;
#pragma unroll
      for (int i = 0; i < count; ++i) sum += words[i];
      words += count;
      return sum;
    };
#pragma unroll(batch < 8 ? 16 / batch : 1)
    for (; n >= batch; n -= batch) add(take.template operator()<batch>());
    if constexpr (batch > 1) {
      unsigned rest = 0;
      if (batch > 8 && n & 8) rest += take.template operator()<8>();
      if (batch > 4 && n & 4) rest += take.template operator()<4>();
      if (batch > 2 && n & 2) rest += take.template operator()<2>();
      if (n & 1) rest += take.template operator()<1>();
      add(rest);
    }
  }

  /// Samples with a digit of at most 0, 1, 2.
  __device__ unsigned up_to_0() const {
    return even_ & 0xffff;
  }
  __device__ unsigned up_to_1() const {
    return (all_ - even_) >> 8 & 0xffff;
  }
  __device__ unsigned up_to_2() const {
    return even_ >> 16;
  }

 private:
  static constexpr unsigned kEven = 0x00ff00ff;

  __device__ void add(unsigned four) {
    all_ += four;
    even_ += four & kEven;
  }

  unsigned all_ = 0, even_ = 0;
};

/// The column whose counts a thread keeps.
class KeptColumn {
 public:
  /// @param x     inside or outside the image
  /// @param kept  whether some window contains this column
  __device__ KeptColumn(const Source<std::uint8_t> &in, int x, bool kept)
      : in_(in), column_(resolve(x, in.plane.width, in.border)) {
    const bool counts = column_ >= 0 || in.border == SwoFilterBorder::constant;
    none_ = !(kept && counts);
  }
  /// The sample in a row, or -1 for none.
  __device__ int sample(int y) const {
    if (none_) return -1;
    const int row = resolve(y, in_.plane.height, in_.border);
    if (row >= 0 && column_ >= 0) return in_.plane.row(row)[column_];
    return in_.border == SwoFilterBorder::constant ? static_cast<int>(in_.outside) : -1;
  }

 private:
  const Source<std::uint8_t> &in_;
  int column_;
  bool none_;
};

struct BlockResults {
  int width, height;
};

/// Level and number among the equal samples of a sample, and how many these are.
struct RankedLevel {
  unsigned level, rest, count;
};

/// What digits_kernel does on an image of 8-bit samples.
struct DigitsJob {
  SelectionJob<std::uint8_t> selection;
  BlockResults results;

  __device__ int x0() const { return blockIdx.x * results.width; }
  __device__ int y0() const { return blockIdx.y * results.height; }
  __device__ KeptColumn column(int x, bool kept) const { return {selection.in, x, kept}; }
  __device__ void put(int x, int y, const RankedLevel &found) const {
    selection.out.row(y)[x] = static_cast<std::uint8_t>(found.level);
  }
};

/// Number `rank` of some samples in ascending order, of `within` samples, by the digits that are
/// known, `value`.
struct DigitSearch {
  unsigned rank, within, value = 0;

  /// @param sums  of the samples with these digits
  __device__ __forceinline__ void find_next(const DigitSums &sums) {
    unsigned below = 0, digit = 0;
    const auto pass = [&](unsigned up_to) {
      if (rank >= up_to)
        below = up_to, ++digit;
      else
        within = min(within, up_to);
    };
    pass(sums.up_to_0());
    pass(sums.up_to_1());
    pass(sums.up_to_2());
    rank -= below;
    within -= below;
    value = value << 2 | digit;
  }
  /// When all digits are known.
  __device__ RankedLevel found() const { return {value, rank, within}; }
};

/// What digits_kernel finds in n columns from this one on.
template <int batch>
__device__ __forceinline__ RankedLevel sample_of_rank(const DigitCounts &counts, int n,
                                                      DigitSearch search) {
#pragma unroll
  for (int digits = 0; digits < kDigits; ++digits) {
    DigitSums sums;
    sums.add<batch>(counts.word(digits, search.value), n);
    search.find_next(sums);
  }
  return search.found();
}

/// A thread maintains one column of the block's windows and processes the window that begins there.
/// @tparam batch  the height of the window is at most 256 / batch - 1
/// @tparam Job    as DigitsJob
template <int batch, typename Job>
__global__ void __launch_bounds__(kMostDigitsColumns)
    digits_kernel(const __grid_constant__ Job job) {
  const auto &selection = job.selection;
  const auto &in = selection.in.plane;
  const bool clip = selection.in.border == SwoFilterBorder::clip;
  auto *const memory = reinterpret_cast<unsigned *>(dynamic_shared_memory());
  const int t = threadIdx.x, columns = blockDim.x;
  const DigitCounts counts(memory + t, columns);
  const int x0 = job.x0(), x = x0 + t;
  const int y0 = job.y0(), y1 = min(y0 + job.results.height, in.height);
  const int rx = selection.rx, ry = selection.ry;
  const auto column = job.column(x - rx, t < min(job.results.width, in.width - x0) + 2 * rx);

#pragma unroll 5
  for (int i = 0; i < kBeginnings; ++i) memory[i * columns + t] = 0;
  counts.fill(column, y0 - ry, y0 + ry);

  const bool writes = t < job.results.width && x < in.width;
  const int across = clip ? min(x + rx, in.width - 1) - max(x - rx, 0) + 1 : 2 * rx + 1;
  int n = 0;
  unsigned rank = 0;
#pragma unroll 1
  for (int y = y0; y < y1; ++y) {
    // Reads the next samples long before they are needed.
    const bool more = y + 1 < y1;
    const int leaves = more ? column.sample(y - ry) : -1,
              enters = more ? column.sample(y + ry + 1) : -1;
    __syncthreads();
    if (writes) {
      const int down = clip ? min(y + ry, in.height - 1) - max(y - ry, 0) + 1 : 2 * ry + 1;
      if (n != across * down) {
        n = across * down;
        rank = selection.op == SwoFilterOperator::median ? n / 2 : rank_of(n, selection.percentile);
      }
      job.put(x, y, sample_of_rank<batch>(counts, 2 * rx + 1, {rank, static_cast<unsigned>(n)}));
    }
    __syncthreads();
    counts.step(leaves, enters);
  }
}

}  // namespace cudascan::swo
