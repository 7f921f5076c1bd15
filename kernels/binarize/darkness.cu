// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/binarize/darkness.cuh"

#include "kernels/base/launch.cuh"
#include "kernels/binarize/block_scan.cuh"
#include "kernels/binarize/planes.cuh"

namespace cudascan::binarize {
namespace {

constexpr int kThreads = 128, kLevelThreads = 256;

/// darkness() without conversions between integers and floats, which are slow: numbers below 2^23
/// are the last bits of floats from 2^23 on.
__device__ unsigned quick_darkness(unsigned sample, unsigned paper, float factor) {
  constexpr unsigned kBits = 0x4b000000;  // 2^23
  const unsigned distance = paper - min(sample, paper);
  const float product = (__uint_as_float(kBits | distance) - 8388608.0f) * factor;
  return __float_as_uint(__fadd_rz(product + 0.5f, 8388608.0f)) - kBits;
}

/// A thread processes 4x4 pixels, which have the same paper.
template <typename T>
__global__ void __launch_bounds__(kThreads) darkness_kernel(const RoundPlanes<T> planes) {
  let_next_kernel_start();
  wait_for_kernels_before();
  const Numbers &numbers = *planes.page.numbers;
  if (numbers.blank) return;
  const Plane<const T> &in = planes.in;
  const bool inverted = planes.page.inverted();
  const int quarter_x = static_cast<int>(blockIdx.x * kThreads + threadIdx.x) - kPad / 4;
  const int x = 4 * quarter_x, quarter_y = blockIdx.y;
  if (x >= in.width + kPad) return;
  const int paper = planes.paper.row(quarter_y)[min(max(quarter_x, 0), planes.paper.width - 1)];
  const PaperKind kind = planes.round == kFine ? kFinePaper : kCoarsePaper;
  const float factor = darkness_factor(kDarkest<T>, paper, numbers.least_paper[kind]);
  unsigned pixels[4][4];
#pragma unroll
  for (int r = 0; r < 4; ++r)
    load_clamped(in.row(min(4 * quarter_y + r, in.height - 1)), in.width, x, pixels[r]);
  unsigned largest = 0, sums[2] = {};
#pragma unroll
  for (int r = 0; r < 4; ++r) {
    unsigned d[4];
#pragma unroll
    for (int k = 0; k < 4; ++k)
      d[k] = quick_darkness(upright(pixels[r][k], inverted, planes.page.maximum), paper, factor);
    if (r % 2 == 0) sums[0] = sums[1] = 2;
    sums[0] += d[0] + d[1];
    sums[1] += d[2] + d[3];
    const int y = 4 * quarter_y + r;
    // Means of pixels after the edge alone do not count.
    if (r % 2 == 1 && y <= in.height)
      largest = max(largest, x + 2 < in.width ? max(sums[0], sums[1]) : sums[0]);
    if (y >= in.height) continue;
    auto *const to = reinterpret_cast<unsigned *>(planes.darkness.row(y) + x);
    if constexpr (sizeof(T) == 1) {
      to[0] = d[0] | d[1] << 8 | d[2] << 16 | d[3] << 24;
    } else {
      to[0] = d[0] | d[1] << 16;
      to[1] = d[2] | d[3] << 16;
    }
  }
  if (planes.means.data && quarter_x >= 0 && quarter_x < planes.means.width)
    planes.means.row(quarter_y)[quarter_x] = static_cast<std::uint16_t>(largest / 4);
}

__device__ LevelSums operator+(const LevelSums &a, const LevelSums &b) {
  return {a.count + b.count, a.sum + b.sum, a.squares + b.squares};
}
__device__ LevelSums sums_of(std::uint32_t count, int level) {
  const auto n = std::uint64_t{count}, v = static_cast<std::uint64_t>(level);
  return {n, n * v, n * v * v};
}

__device__ std::uint64_t bits_of(double v) {
  return std::uint64_t{static_cast<unsigned>(__double2hiint(v))} << 32 |
         static_cast<unsigned>(__double2loint(v));
}
__device__ double double_of(std::uint64_t bits) {
  return __hiloint2double(static_cast<int>(bits >> 32), static_cast<int>(bits));
}

/// Finds out from the details whether the page is blank.
__device__ void judge_details(const Page &page) {
  Numbers &numbers = *page.numbers;
  const std::uint32_t *const counts = numbers.details;
  constexpr int kEach = (kDarkestDetail + 1) / kLevelThreads;
  const int first = threadIdx.x * kEach;
  __shared__ int quartile, third;
  if (threadIdx.x == 0) quartile = third = 0;
  std::uint64_t own = 0;
  for (int i = first; i < first + kEach; ++i) own += counts[i];
  const std::uint64_t up_to = scan_block<kLevelThreads>(own);
  __shared__ std::uint64_t counted;
  if (threadIdx.x == kLevelThreads - 1) counted = up_to;
  __syncthreads();
  // Details of 0 are the rest.
  const std::uint64_t all = page.samples, zeros = all - counted;
  std::uint64_t below = zeros + up_to - own;
  for (int i = first; i < first + kEach; ++i) {
    const std::uint64_t with = below + counts[i];
    if (i > 0 && 4 * below < all && 4 * with >= all) quartile = i;
    if (i > 0 && all - below >= kLeastDetails && all - with < kLeastDetails) third = i;
    below = with;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  numbers.detail_level = detail_level(quartile);
  numbers.third_detail = third;
  numbers.noise = noise_of(quartile);
  numbers.blank = third <= numbers.detail_level;
}

/// Writes the levels that are in use in this frame.
__device__ void set_levels(const Page &page, Round round, const DarknessLevels &found, bool fast) {
  Numbers &numbers = *page.numbers;
  BinarizeHistory &history = *page.history;
  if (round == kCoarse) {
    const unsigned inverted = page.inverted();
    if (inverted != history.inverted || numbers.blank) history.going[0] = history.going[1] = 0;
    history.inverted = inverted;
  }
  numbers.clear[round] = found.clear;
  if (numbers.blank) {
    numbers.threshold[0] = found.threshold;
    numbers.deviation[0] = found.deviation;
    return;
  }
  const bool first = !history.going[round];
  numbers.threshold[round] = history.threshold[round].smooth(found.threshold, first, page.weight);
  numbers.deviation[round] = history.deviation[round].smooth(found.deviation, first, page.weight);
  history.going[round] = 1;
  if (fast) history.going[kFine] = 0;
}

__global__ void __launch_bounds__(kLevelThreads)
    levels_kernel(const Page page, Round round, const std::uint32_t *counts, int darkest,
                  bool fast) {
  let_next_kernel_start();
  wait_for_kernels_before();
  if (page.numbers->blank) return;
  if (round == kCoarse) judge_details(page);
  __shared__ LevelSums last, below_threshold;
  __shared__ unsigned first_maximum, last_maximum;
  const int each = (darkest + 1) / kLevelThreads, first = threadIdx.x * each;
  LevelSums own{};
  for (int i = first; i < first + each; ++i) own = own + sums_of(counts[i], i);
  const LevelSums up_to{scan_block<kLevelThreads>(own.count), scan_block<kLevelThreads>(own.sum),
                        scan_block<kLevelThreads>(own.squares)};
  if (threadIdx.x == kLevelThreads - 1) {
    last = up_to;
    first_maximum = ~0u;
    last_maximum = 0;
  }
  __syncthreads();
  const LevelSums all = last;
  const LevelSums before{up_to.count - own.count, up_to.sum - own.sum, up_to.squares - own.squares};
  // Calls f with the between-class variance of each level of this thread.
  const auto for_each_level = [&](const auto &f) {
    LevelSums below = before;
    for (int i = first; i < first + each; ++i) {
      below = below + sums_of(counts[i], i);
      f(i, below, separation_at(below, all));
    }
  };
  double largest = 0;
  for_each_level([&](int, const LevelSums &, double v) { largest = v > largest ? v : largest; });
  // The order of doubles that are not negative is that of their bits.
  largest = double_of(max_of_block<kLevelThreads>(bits_of(largest)));
  const double flat = flat_maximum(largest);
  for_each_level([&](int i, const LevelSums &, double v) {
    if (v < flat) return;
    atomicMax(&last_maximum, static_cast<unsigned>(i));
    atomicMin(&first_maximum, static_cast<unsigned>(i));
  });
  __syncthreads();
  const int threshold = static_cast<int>(first_maximum + last_maximum) / 2;
  for_each_level([&](int i, const LevelSums &below, double) {
    if (i == threshold) below_threshold = below;
  });
  __syncthreads();
  if (threadIdx.x == 0)
    set_levels(page, round,
               levels_at(threshold, below_threshold, all, darkest + 1, page.numbers->noise), fast);
}

__global__ void __launch_bounds__(kLevelThreads) sizes_kernel(const Page page) {
  let_next_kernel_start();
  wait_for_kernels_before();
  Numbers &numbers = *page.numbers;
  if (numbers.blank) return;
  __shared__ std::uint64_t last;
  __shared__ unsigned median;
  static_assert(runlengths::kBins == kLevelThreads);
  const int length = threadIdx.x;
  const auto &runs = numbers.runs;
  const std::uint64_t own = length >= 2 && length < runlengths::kBins - 1
                                ? std::uint64_t{runs.rows[length]} + runs.columns[length]
                                : 0;
  const std::uint64_t up_to = scan_block<kLevelThreads>(own);
  if (threadIdx.x == kLevelThreads - 1) {
    last = up_to;
    median = median_run(0, 0, 0, 1);
  }
  __syncthreads();
  if (2 * (up_to - own) < last && 2 * up_to >= last)
    median = median_run(last, length, up_to - own, own);
  __syncthreads();
  if (threadIdx.x != 0) return;
  BinarizeHistory &history = *page.history;
  numbers.run = history.run.smooth(static_cast<int>(median), !history.going[kFine], page.weight);
  numbers.sizes = StrokeSizes::of(numbers.run);
}

LaunchShape shape_of(Cuda &cuda, dim3 blocks, int threads) {
  LaunchShape shape{blocks, static_cast<unsigned>(threads)};
  shape.overlap = cuda.code_architecture() >= 90;
  return shape;
}

}  // namespace

template <typename T>
void queue_darkness(Cuda &cuda, const RoundPlanes<T> &planes) {
  const dim3 blocks(divide_up(planes.in.width + 2 * kPad, 4 * kThreads), planes.paper.height);
  launch(cuda, darkness_kernel<T>, shape_of(cuda, blocks, kThreads), planes);
}
template void queue_darkness(Cuda &, const RoundPlanes<std::uint8_t> &);
template void queue_darkness(Cuda &, const RoundPlanes<std::uint16_t> &);

void queue_levels(Cuda &cuda, const Page &page, Round round, const std::uint32_t *counts,
                  int darkest, bool fast) {
  launch(cuda, levels_kernel, shape_of(cuda, 1, kLevelThreads), page, round, counts, darkest, fast);
}
void queue_sizes(Cuda &cuda, const Page &page) {
  launch(cuda, sizes_kernel, shape_of(cuda, 1, kLevelThreads), page);
}

}  // namespace cudascan::binarize
