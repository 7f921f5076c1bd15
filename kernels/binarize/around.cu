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

constexpr int kTileWidth = 32, kTileHeight = 8;

/// Combines the samples of a window around each sample of a tile, along rows and then down columns.
/// Windows repeat the edge of the plane.
/// @tparam most    the largest window
/// @param sample   sample(x, y) inside of the plane
/// @param combine  combine(a, b), of numbers from 0 on
/// @param result   result(combined) is stored
template <int most, typename Sample, typename Combine, typename Result>
__device__ void store_windows(const SmallPlane &out, int size, int block, const Sample &sample,
                              const Combine &combine, const Result &result) {
  constexpr int kWidth = kTileWidth + most - 1, kHeight = kTileHeight + most - 1;
  __shared__ std::uint16_t all[kHeight][kWidth];
  __shared__ std::uint32_t rows[kHeight][kTileWidth];
  const int across = (out.width + kTileWidth - 1) / kTileWidth, reach = size / 2;
  const int x0 = block % across * kTileWidth, y0 = block / across * kTileHeight;
  const int height = kTileHeight + 2 * reach, width = kTileWidth + 2 * reach;
  constexpr int kRows = kThreads / kTileWidth;  // at once
  const int x = threadIdx.x % kTileWidth, first = threadIdx.x / kTileWidth;
  for (int y = first; y < height; y += kRows)
    for (int i = x; i < width; i += kTileWidth)
      all[y][i] = static_cast<std::uint16_t>(sample(min(max(x0 - reach + i, 0), out.width - 1),
                                                    min(max(y0 - reach + y, 0), out.height - 1)));
  __syncthreads();
  for (int y = first; y < height; y += kRows) {
    std::uint32_t combined = 0;
    for (int k = 0; k < size; ++k) combined = combine(combined, std::uint32_t{all[y][x + k]});
    rows[y][x] = combined;
  }
  __syncthreads();
  for (int y = first; y < kTileHeight; y += kRows) {
    std::uint32_t combined = 0;
    for (int k = 0; k < size; ++k) combined = combine(combined, rows[y + k][x]);
    if (x0 + x < out.width && y0 + y < out.height)
      out.row(y0 + y)[x0 + x] = static_cast<std::uint16_t>(result(combined));
  }
}

/// M, for a tile of the sixteenth. To repeat edges is as good as to leave out what is outside.
__device__ void store_darkest(const std::uint32_t *means, const SmallPlane &out, int size,
                              int block) {
  store_windows<StrokeSizes::kMostNeighbourhood>(
      out, size, block, [&](int x, int y) { return means[y * out.width + x]; },
      [](std::uint32_t a, std::uint32_t b) { return max(a, b); },
      [](std::uint32_t largest) { return largest; });
}

/// The mean darkness around, for a tile of the quarter.
__device__ void store_mean(const SmallPlane &cells, const SmallPlane &out, int size, int block) {
  const std::uint32_t inverse = inverse_area(size);
  store_windows<StrokeSizes::kMostMean>(
      out, size, block, [&](int x, int y) { return cells.row(y)[x]; },
      [](std::uint32_t a, std::uint32_t b) { return a + b; },
      [=](std::uint32_t sum) { return mean_of(sum, inverse); });
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
