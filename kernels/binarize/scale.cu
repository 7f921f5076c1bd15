// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/binarize/scale.cuh"

#include <algorithm>

#include "kernels/base/launch.cuh"
#include "kernels/base/warp_sums.cuh"
#include "kernels/binarize/planes.cuh"

namespace cudascan::binarize {
namespace {

constexpr int kWarps = 4, kThreads = 32 * kWarps;
constexpr int kRows = 2;  // of the quarter, of a thread
static_assert(kRows * kWarps == kPolarityBlock, "a block of threads has whole blocks of polarity");

/// Sums down the four columns of a lane: 8-bit samples in pairs, those of columns 0 and 2, and of
/// columns 1 and 3.
template <typename T>
struct ColumnSums {
  static constexpr int kRegisters = sizeof(T) == 1 ? 2 : 4;
  unsigned of[kRegisters];

  static __device__ ColumnSums of_row(const FourSamples<T> &row) {
    if constexpr (sizeof(T) == 1) {
      return {row.words[0] & 0x00ff00ff, row.words[0] >> 8 & 0x00ff00ff};
    } else {
      ColumnSums sums;
#pragma unroll
      for (int k = 0; k < 4; ++k) sums.of[k] = row.words[k / 2] >> 16 * (k % 2) & 0xffff;
      return sums;
    }
  }
  __device__ ColumnSums operator+(const ColumnSums &other) const {
    ColumnSums sum;
#pragma unroll
    for (int k = 0; k < kRegisters; ++k) sum.of[k] = of[k] + other.of[k];
    return sum;
  }
  __device__ unsigned column(int k) const {
    return sizeof(T) == 1 ? of[k % 2] >> 16 * (k / 2) & 0xffff : of[k % kRegisters];
  }
};

/// The means of 4x4 pixels of the half that a lane has side by side.
struct HalfPair {
  int left, right;

  /// All lanes of the warp call it, with neighbouring columns.
  /// @param before, after  sums of the columns next to those of the warp
  template <typename T>
  __device__ HalfPair(const ColumnSums<T> &sums, unsigned before, unsigned after) {
    const unsigned first = sums.column(0), last = sums.column(3);
    const unsigned left_of = __shfl_up_sync(~0u, last, 1);
    const unsigned right_of = __shfl_down_sync(~0u, first, 1);
    const int lane = threadIdx.x % 32;
    const unsigned middle = sums.column(1) + sums.column(2);
    left = static_cast<int>((lane == 0 ? before : left_of) + first + middle + 8) / 16;
    right = static_cast<int>((lane == 31 ? after : right_of) + last + middle + 8) / 16;
  }
};

/// The samples of a block of polarity.
struct BlockSamples {
  unsigned high = 0, low = ~0u, sum = 0, n = 0;

  __device__ void add(unsigned sample) { add(BlockSamples{sample, sample, sample, 1}); }
  __device__ void add(const BlockSamples &other) {
    high = max(high, other.high);
    low = min(low, other.low);
    sum += other.sum;
    n += other.n;
  }
  /// Those of another lane, too.
  __device__ void meet(int mask) {
    add(BlockSamples{__shfl_xor_sync(~0u, high, mask), __shfl_xor_sync(~0u, low, mask),
                     __shfl_xor_sync(~0u, sum, mask), __shfl_xor_sync(~0u, n, mask)});
  }
};

/// Adds up the blocks of this block of threads; all of them call it.
__device__ void measure_polarity(const Page &page, BlockSamples samples) {
  constexpr int kBlocks = 32 / kPolarityBlock;
  __shared__ BlockSamples parts[kWarps][kBlocks];
  for (int mask = 1; mask < kPolarityBlock; mask *= 2) samples.meet(mask);
  const int lane = threadIdx.x % 32;
  if (lane % kPolarityBlock == 0) parts[threadIdx.x / 32][lane / kPolarityBlock] = samples;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  std::uint32_t above = 0, below = 0;
  if (lane < kBlocks) {
    BlockSamples block;
    for (int i = 0; i < kWarps; ++i) block.add(parts[i][lane]);
    if (block.n > 0 && has_contrast(block.high, block.low, page.maximum)) {
      above = block.n * block.high - block.sum;
      below = block.sum - block.n * block.low;
    }
  }
  above = warp_sum(above);
  below = warp_sum(below);
  if (lane != 0 || above + below == 0) return;
  Numbers &numbers = *page.numbers;
  atomicAdd(reinterpret_cast<unsigned long long *>(&numbers.above),
            static_cast<unsigned long long>(above));
  atomicAdd(reinterpret_cast<unsigned long long *>(&numbers.below),
            static_cast<unsigned long long>(below));
}

/// The extrema of blocks of 4x4 samples, which two warps have.
__device__ void store_sixteenth(const QuarterPlanes &planes, unsigned high, unsigned low) {
  constexpr int kAcross = 32 / 4;
  __shared__ unsigned highs[kWarps][kAcross], lows[kWarps][kAcross];
#pragma unroll
  for (int mask = 1; mask < 4; mask *= 2) {
    high = max(high, __shfl_xor_sync(~0u, high, mask));
    low = min(low, __shfl_xor_sync(~0u, low, mask));
  }
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (lane % 4 == 0) {
    highs[warp][lane / 4] = high;
    lows[warp][lane / 4] = low;
  }
  __syncthreads();
  constexpr int kWarpsOfBlock = 4 / kRows;
  const int column = threadIdx.x % kAcross, row = threadIdx.x / kAcross;
  if (row >= kWarps / kWarpsOfBlock) return;
  const int x = blockIdx.x * kAcross + column, y = blockIdx.y * (kWarps / kWarpsOfBlock) + row;
  if (x >= planes.sixteenth_high.width || y >= planes.sixteenth_high.height) return;
  high = 0, low = 0xffff;
  for (int i = row * kWarpsOfBlock; i < (row + 1) * kWarpsOfBlock; ++i) {
    high = max(high, highs[i][column]);
    low = min(low, lows[i][column]);
  }
  planes.sixteenth_high.row(y)[x] = static_cast<std::uint16_t>(high);
  planes.sixteenth_low.row(y)[x] = static_cast<std::uint16_t>(low);
}

template <typename T>
__device__ const T *next_row(const T *row, std::ptrdiff_t stride) {
  return reinterpret_cast<const T *>(reinterpret_cast<const unsigned char *>(row) + stride);
}

/// A thread makes some samples of a column, a block of threads 32x8 of them.
template <typename T>
__global__ void __launch_bounds__(kThreads)
    quarter_kernel(const Plane<const T> in, const QuarterPlanes planes, const Page page,
                   const Rectangle part) {
  let_next_kernel_start();
  wait_for_kernels_before();
  const int lane = threadIdx.x % 32, x = blockIdx.x * 32 + lane;
  const int y0 = (blockIdx.y * kWarps + threadIdx.x / 32) * kRows;
  // Lanes 0 and 31 also need a column of their neighbours.
  const int outer = min(max(lane == 0 ? 4 * x - 1 : 4 * x + 4, 0), in.width - 1);
  FourSamples<T> rows[4 * kRows + 2];
  load_rows(in, 4 * x, 4 * y0 - 1, rows);
  // Sums of two rows each: 4 y0 - 1 and 4 y0, and so on.
  ColumnSums<T> pairs[2 * kRows + 1];
  unsigned outer_pairs[2 * kRows + 1];
#pragma unroll
  for (int i = 0; i <= 2 * kRows; ++i) {
    pairs[i] = ColumnSums<T>::of_row(rows[2 * i]) + ColumnSums<T>::of_row(rows[2 * i + 1]);
    outer_pairs[i] = 0;
  }
  if (lane % 31 == 0) {
    const T *row = in.row(min(max(4 * y0 - 1, 0), in.height - 1)) + outer;
#pragma unroll
    for (int r = 0; r < 4 * kRows + 2; ++r) {
      outer_pairs[r / 2] += *row;
      const int y = 4 * y0 - 1 + r;
      if (y >= 0 && y + 1 < in.height) row = next_row(row, in.stride);
    }
  }
  BlockSamples samples;
  unsigned highest = 0, lowest = 0xffff;
  const bool wide = 4 * x + 2 < in.width;  // whether the half has a second column here, and row
#pragma unroll
  for (int q = 0; q < kRows; ++q) {
    const auto half = [&](int i) {
      const unsigned outer_sum = outer_pairs[i] + outer_pairs[i + 1];
      return HalfPair(pairs[i] + pairs[i + 1], outer_sum, outer_sum);
    };
    const HalfPair upper = half(2 * q), lower = half(2 * q + 1);
    const int y = y0 + q;
    if (x >= planes.mean.width || y >= planes.mean.height) continue;
    const bool high = 4 * y + 2 < in.height;
    const int a = upper.left, b = wide ? upper.right : a;
    const int c = high ? lower.left : a, d = !high ? b : wide ? lower.right : c;
    const auto mean = static_cast<unsigned>(a + b + c + d + 2) / 4;
    // The planes have the same stride.
    const std::ptrdiff_t at = planes.mean.row(y) + x - planes.mean.data;
    planes.mean.data[at] = static_cast<std::uint16_t>(mean);
    planes.top.data[at] = static_cast<std::uint16_t>(max(max(a, b), max(c, d)));
    planes.low.data[at] = static_cast<std::uint16_t>(min(min(a, b), min(c, d)));
    if (is_in(part, x, y)) samples.add(mean);
    highest = max(highest, mean);
    lowest = min(lowest, mean);
  }
  if (planes.sixteenth_high.data) store_sixteenth(planes, highest, lowest);
  if (page.invert == BinarizeInvert::automatic) measure_polarity(page, samples);
}

}  // namespace

template <typename T>
void queue_quarter(Cuda &cuda, Plane<const T> in, const QuarterPlanes &planes, const Page &page,
                   const Rectangle &part) {
  LaunchShape shape{
      dim3(divide_up(planes.mean.width, 32), divide_up(planes.mean.height, kRows * kWarps)),
      kThreads};
  shape.overlap = cuda.code_architecture() >= 90;
  launch(cuda, quarter_kernel<T>, shape, in, planes, page, part);
}
template void queue_quarter(Cuda &, Plane<const std::uint8_t>, const QuarterPlanes &, const Page &,
                            const Rectangle &);
template void queue_quarter(Cuda &, Plane<const std::uint16_t>, const QuarterPlanes &, const Page &,
                            const Rectangle &);

}  // namespace cudascan::binarize
