// SPDX-License-Identifier: LGPL-2.1-or-later
// What lies around each pixel, for the decisions of the second round.
#include <algorithm>

#include "kernels/base/launch.cuh"
#include "kernels/binarize/darkness.cuh"
#include "kernels/binarize/strips.cuh"

namespace cudascan::binarize {
namespace {

constexpr int kThreads = 128;

/// Blocks of least darknesses for a strip.
template <typename T>
CUDASCAN_HD constexpr int blocks_of_least(int width) {
  constexpr int kColumns = kThreads * Packed<T>::kSamples;
  return (width + kPad + kColumns - 1) / kColumns;
}

/// The least of 5x5 darknesses, for larger windows.
template <typename T>
__device__ void store_least(const Plane<T> &darkness, const Plane<T> &least, int block) {
  constexpr int kSamples = Packed<T>::kSamples, kMargin = kMostErosion / 2 - 2;
  const int across = blocks_of_least<T>(darkness.width);
  const int y = block / across * kStrip;
  // Lanes after the row repeat its end.
  const int most = (darkness.width + kMargin + kSamples) & -kSamples;
  const int x = min((block % across * kThreads + static_cast<int>(threadIdx.x)) * kSamples -
                        (kMargin + kSamples - 1) / kSamples * kSamples,
                    most);
  unsigned rows[kStrip];
  StripWords<T>(darkness, x, y).least_of_5x5(rows);
#pragma unroll
  for (int r = 0; r < kStrip; ++r)
    if (y + r < least.height) *reinterpret_cast<unsigned *>(least.row(y + r) + x) = rows[r];
}

// A block finds M or the mean darkness around for a tile.
constexpr int kTileWidth = 32, kTileHeight = 8;
constexpr int kMostReach = StrokeSizes::kMostNeighbourhood / 2;

__device__ void store_darkest(const std::uint32_t *means, const SmallPlane &out, int size,
                              int block) {
  constexpr int kWidth = kTileWidth + 2 * kMostReach, kHeight = kTileHeight + 2 * kMostReach;
  __shared__ std::uint16_t all[kHeight][kWidth], rows[kHeight][kTileWidth];
  const int across = (out.width + kTileWidth - 1) / kTileWidth, reach = size / 2;
  const int x0 = block % across * kTileWidth, y0 = block / across * kTileHeight;
  const int height = kTileHeight + 2 * reach, width = kTileWidth + 2 * reach;
  for (int i = threadIdx.x; i < width * height; i += kThreads) {
    // Repeating the edges is as good as leaving out what is outside.
    const int x = min(max(x0 - reach + i % width, 0), out.width - 1);
    const int y = min(max(y0 - reach + i / width, 0), out.height - 1);
    all[i / width][i % width] = static_cast<std::uint16_t>(means[y * out.width + x]);
  }
  __syncthreads();
  const int x = threadIdx.x % kTileWidth;
  for (int y = threadIdx.x / kTileWidth; y < height; y += kThreads / kTileWidth) {
    int largest = 0;
    for (int k = 0; k < size; ++k) largest = max(largest, int{all[y][x + k]});
    rows[y][x] = static_cast<std::uint16_t>(largest);
  }
  __syncthreads();
  for (int y = threadIdx.x / kTileWidth; y < kTileHeight; y += kThreads / kTileWidth) {
    int largest = 0;
    for (int k = 0; k < size; ++k) largest = max(largest, int{rows[y + k][x]});
    if (x0 + x < out.width && y0 + y < out.height)
      out.row(y0 + y)[x0 + x] = static_cast<std::uint16_t>(largest);
  }
}

/// The mean darkness around, for a tile of the quarter.
__device__ void store_mean(const SmallPlane &cells, const SmallPlane &out, int size, int block) {
  constexpr int kReach = StrokeSizes::kMostMean / 2;
  constexpr int kWidth = kTileWidth + 2 * kReach, kHeight = kTileHeight + 2 * kReach;
  __shared__ std::uint16_t all[kHeight][kWidth];
  __shared__ std::uint32_t rows[kHeight][kTileWidth];
  const int across = (out.width + kTileWidth - 1) / kTileWidth, reach = size / 2;
  const int x0 = block % across * kTileWidth, y0 = block / across * kTileHeight;
  const int height = kTileHeight + 2 * reach, width = kTileWidth + 2 * reach;
  const int x = threadIdx.x % kTileWidth;
  for (int y = threadIdx.x / kTileWidth; y < height; y += kThreads / kTileWidth) {
    const std::uint16_t *const row = cells.row(min(max(y0 - reach + y, 0), out.height - 1));
    for (int i = x; i < width; i += kTileWidth)
      all[y][i] = row[min(max(x0 - reach + i, 0), out.width - 1)];
  }
  __syncthreads();
  for (int y = threadIdx.x / kTileWidth; y < height; y += kThreads / kTileWidth) {
    std::uint32_t sum = 0;
    for (int k = 0; k < size; ++k) sum += all[y][x + k];
    rows[y][x] = sum;
  }
  __syncthreads();
  const std::uint32_t inverse = inverse_area(size);
  for (int y = threadIdx.x / kTileWidth; y < kTileHeight; y += kThreads / kTileWidth) {
    std::uint32_t sum = 0;
    for (int k = 0; k < size; ++k) sum += rows[y + k][x];
    if (x0 + x < out.width && y0 + y < out.height)
      out.row(y0 + y)[x0 + x] = static_cast<std::uint16_t>(mean_of(sum, inverse));
  }
}

/// Blocks that find M, the mean darkness and the least darknesses.
struct BlockCounts {
  int darkest, mean, least;
};

/// What lies around each pixel.
template <typename T>
__global__ void __launch_bounds__(kThreads)
    around_kernel(const RoundPlanes<T> planes, const FinePlanes<T> fine, const BlockCounts blocks) {
  let_next_kernel_start();
  wait_for_kernels_before();
  const Numbers &numbers = *planes.page.numbers;
  if (numbers.blank) return;
  int block = blockIdx.x;
  if (block < blocks.darkest)
    return store_darkest(planes.darkest, fine.darkest, numbers.sizes.neighbourhood, block);
  block -= blocks.darkest;
  if (block < blocks.mean) return store_mean(planes.cells, fine.around, numbers.sizes.mean, block);
  if (numbers.sizes.erosion == kFirstErosion) return;
  // There are fewer blocks than strips, because most pages do not need them.
  const int strips = (planes.darkness.height + kStrip - 1) / kStrip;
  const int all = strips * blocks_of_least<T>(planes.darkness.width);
  for (int i = block - blocks.mean; i < all; i += blocks.least)
    store_least(planes.darkness, fine.least, i);
}

}  // namespace

template <typename T>
void queue_around(Cuda &cuda, const RoundPlanes<T> &planes, const FinePlanes<T> &fine) {
  const Plane<T> &d = planes.darkness;
  const auto tiles = [](const SmallPlane &plane) {
    return divide_up(plane.width, kTileWidth) * divide_up(plane.height, kTileHeight);
  };
  const int least_blocks = blocks_of_least<T>(d.width) * divide_up(d.height, kStrip);
  const BlockCounts blocks{tiles(fine.darkest), tiles(fine.around),
                           std::min(least_blocks, 8 * cuda.multiprocessors())};
  LaunchShape shape{blocks.darkest + blocks.mean + blocks.least, kThreads};
  shape.overlap = cuda.code_architecture() >= 90;
  launch(cuda, around_kernel<T>, shape, planes, fine, blocks);
}
template void queue_around(Cuda &, const RoundPlanes<std::uint8_t> &,
                           const FinePlanes<std::uint8_t> &);
template void queue_around(Cuda &, const RoundPlanes<std::uint16_t> &,
                           const FinePlanes<std::uint16_t> &);

}  // namespace cudascan::binarize
