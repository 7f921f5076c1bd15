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

/// Four pixels of a row, and those before and after.
template <typename T>
struct SixPixels {
  int p[4], before, after;

  /// All lanes of the warp call it, with neighbouring x.
  __device__ SixPixels(const T *row, int width, int x) {
    unsigned four[4];
    load_clamped(row, width, x, four);
#pragma unroll
    for (int k = 0; k < 4; ++k) p[k] = static_cast<int>(four[k]);
    const int lane = threadIdx.x % 32;
    before = __shfl_up_sync(~0u, p[3], 1);
    after = __shfl_down_sync(~0u, p[0], 1);
    if (lane == 0) before = row[min(max(x - 1, 0), width - 1)];
    if (lane == 31) after = row[min(x + 4, width - 1)];
  }
  __device__ int left() const {
    return before + p[0] + p[1] + p[2];
  }
  __device__ int right() const {
    return p[1] + p[2] + p[3] + after;
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

__device__ bool is_in(const Rectangle &part, int x, int y) {
  return x >= part.x && x < part.x + part.width && y >= part.y && y < part.y + part.height;
}

/// A thread makes some samples of a column, a block of threads 32x8 of them.
template <typename T>
__global__ void __launch_bounds__(kThreads)
    quarter_kernel(const Plane<const T> in, const QuarterPlanes planes, const Page page,
                   const Rectangle part) {
  let_next_kernel_start();
  wait_for_kernels_before();
  const int x = blockIdx.x * 32 + threadIdx.x % 32;
  const int y0 = (blockIdx.y * kWarps + threadIdx.x / 32) * kRows;
  int sums[2 * kRows][2] = {};  // of 4x4 pixels
#pragma unroll
  for (int r = -1; r <= 4 * kRows; ++r) {
    const SixPixels<T> pixels(in.row(min(max(4 * y0 + r, 0), in.height - 1)), in.width, 4 * x);
#pragma unroll
    for (int h = 0; h < 2 * kRows; ++h)
      if (r >= 2 * h - 1 && r <= 2 * h + 2)
        sums[h][0] += pixels.left(), sums[h][1] += pixels.right();
  }
  BlockSamples samples;
  const bool wide = 4 * x + 2 < in.width;  // whether the half has a second column here, and row
#pragma unroll
  for (int q = 0; q < kRows; ++q) {
    const int y = y0 + q;
    if (x >= planes.mean.width || y >= planes.mean.height) break;
    const bool high = 4 * y + 2 < in.height;
    const int a = (sums[2 * q][0] + 8) / 16, b = wide ? (sums[2 * q][1] + 8) / 16 : a;
    const int c = high ? (sums[2 * q + 1][0] + 8) / 16 : a;
    const int d = !high ? b : wide ? (sums[2 * q + 1][1] + 8) / 16 : c;
    const int mean = (a + b + c + d + 2) / 4;
    planes.mean.row(y)[x] = static_cast<std::uint16_t>(mean);
    planes.top.row(y)[x] = static_cast<std::uint16_t>(max(max(a, b), max(c, d)));
    planes.low.row(y)[x] = static_cast<std::uint16_t>(min(min(a, b), min(c, d)));
    if (is_in(part, x, y)) samples.add(mean);
  }
  if (page.invert == BinarizeInvert::automatic) measure_polarity(page, samples);
}

// Details: tiles of the quarter with two samples around them.
constexpr int kDetailThreads = 256, kTileWidth = 64, kTileHeight = 16;
constexpr int kReach = kDetailClosing / 2;
static_assert(kDetailClosing == 3);

/// Extrema of three samples along the rows or the columns of a tile, from one array to another.
template <int width, int height, int distance, int from_stride, int to_stride>
__device__ void extrema_of_3(bool largest, const std::uint16_t *from, std::uint16_t *to) {
  for (int i = threadIdx.x; i < width * height; i += kDetailThreads) {
    const int x = i % width, y = i / width;
    const std::uint16_t *const first = from + y * from_stride + x;
    const int a = first[0], b = first[distance], c = first[2 * distance];
    to[y * to_stride + x] =
        static_cast<std::uint16_t>(largest ? max(a, max(b, c)) : min(a, min(b, c)));
  }
  __syncthreads();
}

__global__ void __launch_bounds__(kDetailThreads)
    detail_kernel(const QuarterPlanes planes, const SmallPlane paper, const Page page,
                  const Rectangle part) {
  let_next_kernel_start();
  wait_for_kernels_before();
  constexpr int kWidth = kTileWidth + 4 * kReach, kHeight = kTileHeight + 4 * kReach;
  __shared__ std::uint16_t tile[kHeight * kWidth], other[kHeight * kWidth];
  __shared__ std::uint32_t counts[kDarkestDetail + 1];
  for (int i = threadIdx.x; i <= kDarkestDetail; i += kDetailThreads) counts[i] = 0;
  const bool inverted = page.inverted();
  const SmallPlane &top = inverted ? planes.low : planes.top;
  const SmallPlane &low = inverted ? planes.top : planes.low;
  const int least = page.numbers->least_paper[kCoarsePaper];
  const int across = (part.width + kTileWidth - 1) / kTileWidth;
  const int tiles = across * ((part.height + kTileHeight - 1) / kTileHeight);
  for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
    const int x0 = part.x + t % across * kTileWidth, y0 = part.y + t / across * kTileHeight;
    __syncthreads();
    for (int i = threadIdx.x; i < kWidth * kHeight; i += kDetailThreads) {
      const int x = min(max(x0 - 2 * kReach + i % kWidth, 0), top.width - 1);
      const int y = min(max(y0 - 2 * kReach + i / kWidth, 0), top.height - 1);
      tile[i] = static_cast<std::uint16_t>(upright(top.row(y)[x], inverted, page.maximum));
    }
    __syncthreads();
    constexpr int kLess = 2 * kReach;
    extrema_of_3<kWidth - kLess, kHeight, 1, kWidth, kWidth>(true, tile, other);
    extrema_of_3<kWidth - kLess, kHeight - kLess, kWidth, kWidth, kWidth>(true, other, tile);
    // Windows are clipped at the border of the image.
    for (int i = threadIdx.x; i < (kWidth - kLess) * (kHeight - kLess); i += kDetailThreads) {
      const int x = i % (kWidth - kLess), y = i / (kWidth - kLess);
      const int image_x = x0 - kReach + x, image_y = y0 - kReach + y;
      if (image_x < 0 || image_x >= top.width || image_y < 0 || image_y >= top.height)
        tile[y * kWidth + x] = 0xffff;
    }
    __syncthreads();
    extrema_of_3<kTileWidth, kHeight - kLess, 1, kWidth, kWidth>(false, tile, other);
    extrema_of_3<kTileWidth, kTileHeight, kWidth, kWidth, kWidth>(false, other, tile);
    for (int i = threadIdx.x; i < kTileWidth * kTileHeight; i += kDetailThreads) {
      const int x = x0 + i % kTileWidth, y = y0 + i / kTileWidth;
      if (!is_in(part, x, y)) continue;
      const auto sample = static_cast<int>(upright(low.row(y)[x], inverted, page.maximum));
      const float factor = darkness_factor(kDarkestDetail, paper.row(y)[x], least);
      const int detail = darkness(sample, tile[i / kTileWidth * kWidth + i % kTileWidth], factor);
      if (detail > 0) atomicAdd(&counts[min(detail, kDarkestDetail)], 1u);
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i <= kDarkestDetail; i += kDetailThreads)
    if (counts[i]) atomicAdd(&page.numbers->details[i], counts[i]);
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

void queue_details(Cuda &cuda, const QuarterPlanes &planes, SmallPlane paper, const Page &page,
                   const Rectangle &part) {
  const int tiles = divide_up(part.width, kTileWidth) * divide_up(part.height, kTileHeight);
  LaunchShape shape{std::min(tiles, 4 * cuda.multiprocessors()), kDetailThreads};
  shape.overlap = cuda.code_architecture() >= 90;
  launch(cuda, detail_kernel, shape, planes, paper, page, part);
}

}  // namespace cudascan::binarize
