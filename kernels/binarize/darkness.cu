// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/binarize/darkness.cuh"

#include <algorithm>

#include "kernels/base/launch.cuh"
#include "kernels/binarize/block_scan.cuh"
#include "kernels/binarize/planes.cuh"

namespace cudascan::binarize {
namespace {

constexpr int kThreads = 256;
constexpr float kInteger = 8388608;  // 2^23: from here on floats are integers, in their last bits
constexpr unsigned kIntegerBits = 0x4b000000;

/// Numbers below 2^23 from samples of words, without conversions, which are slow.
template <typename T>
__device__ float integer_of(const FourSamples<T> &samples, int k) {
  constexpr unsigned kBytes = sizeof(T) == 1 ? 0x7440 : 0x7410, kNext = sizeof(T) == 1 ? 1 : 0x22;
  constexpr int kSamples = FourSamples<T>::kSamples;
  return __uint_as_float(
      __byte_perm(samples.words[k / kSamples], kIntegerBits, kBytes + kNext * (k % kSamples)));
}

/// darkness() of a sample, as kInteger + a number.
/// @param paper  the same
__device__ unsigned quick_darkness(float sample, float paper, float factor) {
  const float product = fmaxf(paper - sample, 0.0f) * factor;
  return __float_as_uint(__fadd_rz(product + 0.5f, kInteger));
}

/// Four samples from the last bits of numbers.
template <typename T>
__device__ void pack(const unsigned (&from)[4], unsigned (&words)[FourSamples<T>::kWords]) {
  if constexpr (sizeof(T) == 1)
    words[0] = __byte_perm(__byte_perm(from[0], from[1], 0x0040),
                           __byte_perm(from[2], from[3], 0x0040), 0x5410);
  else
    words[0] = __byte_perm(from[0], from[1], 0x5410),
    words[1] = __byte_perm(from[2], from[3], 0x5410);
}

template <typename T>
__device__ void turn_upright(FourSamples<T> &samples, unsigned maximum) {
#pragma unroll
  for (unsigned &word : samples.words) {
    if constexpr (sizeof(T) == 1)
      word = upright_pair(word & 0x00ff00ff, true, maximum) |
             upright_pair(word >> 8 & 0x00ff00ff, true, maximum) << 8;
    else
      word = upright_pair(word, true, maximum);
  }
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
  constexpr int kEach = (kDarkestDetail + 1) / kThreads;
  const int first = threadIdx.x * kEach;
  __shared__ int quartile, third;
  if (threadIdx.x == 0) quartile = third = 0;
  std::uint32_t counts[kEach];
#pragma unroll
  for (int i = 0; i < kEach; ++i) counts[i] = __ldcg(&numbers.details[first + i]);
  std::uint64_t own = 0;
  for (const std::uint32_t count : counts) own += count;
  const std::uint64_t up_to = scan_block<kThreads>(own);
  __shared__ std::uint64_t counted;
  if (threadIdx.x == kThreads - 1) counted = up_to;
  __syncthreads();
  // Details of 0 are the rest.
  const std::uint64_t all = page.samples, zeros = all - counted;
  std::uint64_t below = zeros + up_to - own;
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const int i = first + k;
    const std::uint64_t with = below + counts[k];
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

/// Finds the levels of a round. All threads of a block call it, after all darkness is counted.
template <int darkest>
__device__ void find_levels(const Page &page, Round round, bool fast) {
  if (round == kCoarse) judge_details(page);
  __shared__ LevelSums last, below_threshold;
  __shared__ unsigned first_maximum, last_maximum;
  constexpr int kEach = (darkest + 1) / kThreads;
  const int first = threadIdx.x * kEach;
  std::uint32_t counts[kEach];
#pragma unroll
  for (int i = 0; i < kEach; ++i) counts[i] = __ldcg(&page.numbers->darkness[round][first + i]);
  LevelSums own{};
#pragma unroll
  for (int i = 0; i < kEach; ++i) own = own + sums_of(counts[i], first + i);
  const LevelSums up_to{scan_block<kThreads>(own.count), scan_block<kThreads>(own.sum),
                        scan_block<kThreads>(own.squares)};
  if (threadIdx.x == kThreads - 1) {
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
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      below = below + sums_of(counts[i], first + i);
      f(first + i, below, separation_at(below, all));
    }
  };
  double largest = 0;
  for_each_level([&](int, const LevelSums &, double v) { largest = v > largest ? v : largest; });
  // The order of doubles that are not negative is that of their bits.
  largest = double_of(max_of_block<kThreads>(bits_of(largest)));
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

/// The darkness of 4x4 pixels, which have the same paper, and what is counted of it.
template <typename T, Round round>
class DarkSquare {
 public:
  __device__ DarkSquare(const RoundPlanes<T> &planes, bool inverted, int quarter_x, int quarter_y,
                        int paper, float factor)
      : planes_(planes), x_(4 * quarter_x), y_(4 * quarter_y) {
    FourSamples<T> rows[4];
    load_rows(planes.in, x_, y_, rows);
    if (inverted) {
#pragma unroll
      for (FourSamples<T> &samples : rows) turn_upright(samples, planes.page.maximum);
    }
    const float level = __uint_as_float(kIntegerBits | paper);
    auto to = reinterpret_cast<unsigned char *>(planes.darkness.row(y_) + x_);
#pragma unroll
    for (int r = 0; r < 4; ++r, to += planes.darkness.stride) {
      unsigned d[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) d[k] = quick_darkness(integer_of<T>(rows[r], k), level, factor);
      counted_[r] = d[counted_column(r)] & 0xffff;
      pack<T>(d, words_[r]);
#pragma unroll
      for (int i = 0; i < kWords; ++i) reinterpret_cast<unsigned *>(to)[i] = words_[r][i];
    }
  }

  __device__ void count(std::uint32_t *counts) const {
    const Rectangle &roi = planes_.roi;
    const int x = x_ - roi.x, y = y_ - roi.y;
    if (x >= 0 && x + 4 <= roi.width && y >= 0 && y + 4 <= roi.height) {
#pragma unroll
      for (int r = 0; r < 4; ++r) atomicAdd(&counts[counted_[r]], 1u);
      return;
    }
#pragma unroll
    for (int r = 0; r < 4; ++r)
      if (is_in(roi, x_ + counted_column(r), y_ + r)) atomicAdd(&counts[counted_[r]], 1u);
  }

  /// The largest and the mean of the means of 2x2 pixels. Those of pixels after the edge alone do
  /// not count.
  struct Means {
    unsigned largest, mean;
  };
  __device__ Means means() const {
    unsigned of[2][2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      unsigned left, right;
      if constexpr (sizeof(T) == 1) {
        const unsigned both = sums_of_pairs(words_[2 * i][0]) + sums_of_pairs(words_[2 * i + 1][0]);
        left = both & 0xffff, right = both >> 16;
      } else {
        const auto sum = [&](int k) {
          const unsigned both = words_[2 * i][k] + words_[2 * i + 1][k];
          return (both & 0xffff) + (both >> 16);
        };
        left = sum(0), right = sum(kWords - 1);
      }
      of[i][0] = (left + 2) / 4;
      of[i][1] = x_ + 2 < planes_.in.width ? (right + 2) / 4 : of[i][0];
    }
    if (y_ + 2 >= planes_.in.height) of[1][0] = of[0][0], of[1][1] = of[0][1];
    return {max(max(of[0][0], of[0][1]), max(of[1][0], of[1][1])),
            (of[0][0] + of[0][1] + of[1][0] + of[1][1] + 2) / 4};
  }

 private:
  static constexpr int kWords = FourSamples<T>::kWords;

  static __device__ unsigned sums_of_pairs(unsigned word) {
    return (word & 0x00ff00ff) + (word >> 8 & 0x00ff00ff);
  }

  const RoundPlanes<T> &planes_;
  const int x_, y_;
  unsigned words_[4][kWords], counted_[4];
};

/// Squares of 4x4 pixels in a row, with the padding; a multiple of 4.
CUDASCAN_HD constexpr int columns_of(int width) {
  return (width + 2 * kPad + 15) / 16 * 4;
}

template <typename T, Round round>
__global__ void __launch_bounds__(kThreads)
    darkness_kernel(const __grid_constant__ RoundPlanes<T> planes) {
  let_next_kernel_start();
  wait_for_kernels_before();
  Numbers &numbers = *planes.page.numbers;
  if (numbers.blank) return;
  constexpr int kDetails = round == kCoarse ? kDarkestDetail + 1 : 1;
  __shared__ std::uint32_t counts[kDarkest<T> + 1], details[kDetails];
  for (int i = threadIdx.x; i <= kDarkest<T>; i += kThreads) counts[i] = 0;
  for (int i = threadIdx.x; i < kDetails; i += kThreads) details[i] = 0;
  __shared__ int least_paper;
  if (threadIdx.x == 0)
    least_paper = numbers.least_paper(round == kFine ? kFinePaper : kCoarsePaper);
  __syncthreads();

  const bool inverted = planes.page.inverted();
  const int least = least_paper;
  const int columns = columns_of(planes.in.width), height = planes.paper.height;
  const int step_y = gridDim.x * kThreads / columns, step_x = gridDim.x * kThreads % columns;
  const int first = blockIdx.x * kThreads + threadIdx.x;
  int column = first % columns, y = first / columns;
  while (__any_sync(~0u, y < height)) {
    const int x = column - kPad / 4;
    const bool inside = y < height && x >= 0 && x < planes.paper.width;
    unsigned largest = 0;
    if (y < height) {
      const int paper = planes.paper.row(y)[min(max(x, 0), planes.paper.width - 1)];
      const DarkSquare<T, round> square(planes, inverted, x, y, paper,
                                        darkness_factor(kDarkest<T>, paper, least));
      square.count(counts);
      if (round == kFine && inside) {
        const auto means = square.means();
        largest = means.largest;
        planes.cells.row(y)[x] = static_cast<std::uint16_t>(means.mean);
      }
      if (round == kCoarse && is_in(planes.quarter_part, x, y)) {
        const int detail =
            darkness(0, planes.details.row(y)[x], darkness_factor(kDarkestDetail, paper, least));
        if (detail > 0) atomicAdd(&details[min(detail, kDarkestDetail)], 1u);
      }
    }
    if constexpr (round == kFine) {
      // Four lanes have the same sample of the sixteenth.
      largest = max(largest, __shfl_xor_sync(~0u, largest, 1));
      largest = max(largest, __shfl_xor_sync(~0u, largest, 2));
      if (largest > 0 && threadIdx.x % 4 == 0)
        atomicMax(&planes.darkest[y / 4 * ((planes.paper.width + 3) / 4) + x / 4], largest);
    }
    y += step_y;
    column += step_x;
    if (column >= columns) column -= columns, ++y;
  }

  __syncthreads();
  for (int i = threadIdx.x; i <= kDarkest<T>; i += kThreads)
    if (counts[i]) atomicAdd(&numbers.darkness[round][i], counts[i]);
  if constexpr (round == kCoarse)
    for (int i = threadIdx.x; i < kDetails; i += kThreads)
      if (details[i]) atomicAdd(&numbers.details[i], details[i]);
  if (is_last_block(numbers.ended[round]))
    find_levels<kDarkest<T>>(planes.page, round, planes.fast);
}

__global__ void __launch_bounds__(kThreads) sizes_kernel(const Page page) {
  let_next_kernel_start();
  wait_for_kernels_before();
  Numbers &numbers = *page.numbers;
  if (numbers.blank) return;
  __shared__ std::uint64_t last;
  __shared__ unsigned median;
  static_assert(runlengths::kBins == kThreads);
  const int length = threadIdx.x;
  const auto &runs = numbers.runs;
  const std::uint64_t own = length >= 2 && length < runlengths::kBins - 1
                                ? std::uint64_t{runs.rows[length]} + runs.columns[length]
                                : 0;
  const std::uint64_t up_to = scan_block<kThreads>(own);
  if (threadIdx.x == kThreads - 1) {
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
  numbers.weights = InkWeights::of(numbers.run);
}

LaunchShape shape_of(Cuda &cuda, dim3 blocks, int threads) {
  LaunchShape shape{blocks, static_cast<unsigned>(threads)};
  shape.overlap = cuda.code_architecture() >= 90;
  return shape;
}

}  // namespace

template <typename T>
void queue_darkness(Cuda &cuda, const RoundPlanes<T> &planes) {
  const int blocks =
      divide_up(std::int64_t{columns_of(planes.in.width)} * planes.paper.height, kThreads);
  const LaunchShape shape = shape_of(cuda, std::min(blocks, 4 * cuda.multiprocessors()), kThreads);
  if (planes.round == kCoarse)
    launch(cuda, darkness_kernel<T, kCoarse>, shape, planes);
  else
    launch(cuda, darkness_kernel<T, kFine>, shape, planes);
}
template void queue_darkness(Cuda &, const RoundPlanes<std::uint8_t> &);
template void queue_darkness(Cuda &, const RoundPlanes<std::uint16_t> &);

void queue_sizes(Cuda &cuda, const Page &page) {
  launch(cuda, sizes_kernel, shape_of(cuda, 1, kThreads), page);
}

}  // namespace cudascan::binarize
