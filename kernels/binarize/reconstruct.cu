// SPDX-License-Identifier: LGPL-2.1-or-later
// Drops ink without a core, and finds the median darkness of what remains. Tiles of 64x32 pixels
// decide on almost all ink: it is connected with a core in the tile, or with neither a core nor the
// edge of the tile. Components are found only of the ink that is still open.
#include <algorithm>

#include "kernels/base/launch.cuh"
#include "kernels/binarize/block_scan.cuh"
#include "kernels/binarize/things.cuh"

namespace cudascan::binarize {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;
constexpr int kTileWords = 2, kTileRows = 32;  // a lane has a row

/// Two words of a row.
using Row = std::uint64_t;

__device__ Row load_row(const DeviceBits &bits, int i, int y) {
  return bits.at(i, y) | Row{bits.at(i + 1, y)} << 32;
}
__device__ void store_row(const DeviceBits &bits, int i, int y, Row row) {
  if (y >= bits.height) return;
  for (int k = 0; k < kTileWords && i + k < bits.stride; ++k)
    bits.row(y)[i + k] = static_cast<std::uint32_t>(row >> 32 * k);
}

__device__ Row reversed(Row row) {
  return Row{__brev(static_cast<std::uint32_t>(row))} << 32 |
         __brev(static_cast<std::uint32_t>(row >> 32));
}
/// The pixels of runs of a mask from seeds in them upwards: a sum carries along the run.
__device__ Row filled_up(Row seeds, Row mask) {
  return (mask & ~(mask + seeds)) | seeds;
}
/// All runs of a mask with seeds in them.
__device__ Row filled(Row seeds, Row mask) {
  const Row up = filled_up(seeds, mask);
  return reversed(filled_up(reversed(up), reversed(mask)));
}
/// The pixels of a tile's mask that are connected with seeds in it. All lanes call it.
__device__ Row connected(Row seeds, Row mask) {
  const int lane = threadIdx.x % 32;
  for (;;) {
    const Row all = filled(seeds, mask);
    const Row above = __shfl_up_sync(~0u, all, 1), below = __shfl_down_sync(~0u, all, 1);
    const Row near = (lane > 0 ? above : 0) | (lane < 31 ? below : 0);
    seeds = all | (mask & (near | near << 1 | near >> 1));
    if (!__any_sync(~0u, seeds != all)) return all;
  }
}

/// Leaves in `ink` what is connected with cores in its tile, and in `cores` what is open.
__global__ void __launch_bounds__(kThreads)
    decide_kernel(const Page page, const DeviceBits ink, const DeviceBits cores) {
  let_next_kernel_start();
  wait_for_kernels_before();
  Numbers &numbers = *page.numbers;
  if (numbers.blank) return;
  const int lane = threadIdx.x % 32;
  const int i = (blockIdx.x * kWarps + threadIdx.x / 32) * kTileWords;
  const int y0 = blockIdx.y * kTileRows, y = y0 + lane;
  if (i >= ink.stride) return;
  const Row mask = load_row(ink, i, y);
  const Row kept = connected(load_row(cores, i, y) & mask, mask);
  const Row rest = mask & ~kept;
  // The edges of the tile inside of the image.
  Row edge = (i > 0 ? 1 : 0) | (i + kTileWords < ink.stride ? Row{1} << 63 : 0);
  if ((lane == 0 && y0 > 0) || (lane == 31 && y0 + kTileRows < ink.height)) edge = ~Row{0};
  Row open = rest & edge;
  if (__any_sync(~0u, open != 0)) {
    open = connected(open, rest);
    if (lane == 0 && !*const_cast<volatile unsigned *>(&numbers.any_open))
      atomicOr(&numbers.any_open, 1u);
  }
  store_row(ink, i, y, kept);
  store_row(cores, i, y, open);
}

/// Keeps the components of open ink that touch ink.
__global__ void __launch_bounds__(kThreads)
    keep_ink_kernel(const Page page, const DeviceBits ink, const DeviceComponents open) {
  let_next_kernel_start();
  wait_for_kernels_before();
  if (!page.numbers->any_open) return;
  const int k = blockIdx.x * kThreads + threadIdx.x, y = k / ink.stride, i = k % ink.stride;
  if (y >= ink.height) return;
  const std::uint32_t word = open.bits.row(y)[i];
  if (word) open.keep(word, ~0u, word & dilated(ink, i, y, 1), i, y);
}

/// The median of the darkness of ink. All threads of a block call it.
template <int darkest>
__device__ void find_ink_darkness(Numbers &numbers) {
  __shared__ std::uint64_t last;
  constexpr int kEach = (darkest + 1) / kThreads;
  const int first = threadIdx.x * kEach;
  std::uint32_t counts[kEach];
#pragma unroll
  for (int i = 0; i < kEach; ++i) counts[i] = __ldcg(&numbers.ink_counts[first + i]);
  std::uint64_t own = 0;
  for (const std::uint32_t count : counts) own += count;
  std::uint64_t up_to = scan_block<kThreads>(own);
  if (threadIdx.x == kThreads - 1) last = up_to;
  __syncthreads();
  up_to -= own;
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const std::uint64_t before = up_to;
    up_to += counts[i];
    if (2 * before < last && 2 * up_to >= last) numbers.ink_darkness = first + i;
  }
}

/// Adds open ink that is kept, and counts the darkness of ink. A lane has a word. A warp has some
/// words of each of kInkRows rows and counts those of the first row.
template <typename T>
__global__ void __launch_bounds__(kThreads)
    join_ink_kernel(const Page page, const DeviceBits ink, const DeviceComponents open,
                    const Plane<T> darkness) {
  let_next_kernel_start();
  wait_for_kernels_before();
  Numbers &numbers = *page.numbers;
  if (numbers.blank) return;
  __shared__ std::uint32_t counts[kDarkest<T> + 1];
  for (int i = threadIdx.x; i <= kDarkest<T>; i += kThreads) counts[i] = 0;
  __syncthreads();
  constexpr int kWords = 32 / kInkRows;
  const bool any_open = numbers.any_open;
  const int lane = threadIdx.x % 32, across = (ink.stride + kWords - 1) / kWords;
  const int parts = across * ((ink.height + kInkRows - 1) / kInkRows);
  for (int k = blockIdx.x * kWarps + threadIdx.x / 32; k < parts; k += kWarps * gridDim.x) {
    const int first = k % across * kWords, i = first + lane % kWords;
    const int counted_y = k / across * kInkRows, y = counted_y + lane / kWords;
    std::uint32_t word = ink.at(i, y);
    if (any_open) {
      std::uint32_t kept = 0;
      for_runs(open.bits.at(i, y), ~0u, [&](const WordRun &run) {
        if (open.is_kept(open.forest.root(open.node(i, y, run.first)))) kept |= run.bits;
      });
      if (kept) ink.row(y)[i] = word |= kept;
    }
    const T *const row = darkness.row(counted_y) + 32 * first + lane;
    int levels[kWords];
#pragma unroll
    for (int at = 0; at < kWords; ++at) {
      const bool is_ink = __shfl_sync(~0u, word, at) >> lane & 1;
      levels[at] = is_ink ? row[32 * at] : -1;
    }
#pragma unroll
    for (const int level : levels)
      if (level >= 0) atomicAdd(&counts[level], 1u);
  }
  __syncthreads();
  for (int i = threadIdx.x; i <= kDarkest<T>; i += kThreads)
    if (counts[i]) atomicAdd(&numbers.ink_counts[i], counts[i]);
  if (is_last_block(numbers.counted)) find_ink_darkness<kDarkest<T>>(numbers);
}

}  // namespace

template <typename T>
void queue_reconstruct(Cuda &cuda, const Page &page, const DeviceBits &ink,
                       const DeviceComponents &cores, Plane<T> darkness) {
  const auto shape = [&](dim3 blocks) {
    LaunchShape s{blocks, kThreads};
    s.overlap = cuda.code_architecture() >= 90;
    return s;
  };
  launch(cuda, decide_kernel,
         shape(dim3(divide_up(ink.stride, kWarps * kTileWords), divide_up(ink.height, kTileRows))),
         page, ink, cores.bits);
  queue_join(cuda, page, cores);
  const std::int64_t words = std::int64_t{ink.stride} * ink.height;
  launch(cuda, keep_ink_kernel, shape(divide_up(words, kThreads)), page, ink, cores);
  const int blocks = divide_up(words, kThreads);
  launch(cuda, join_ink_kernel<T>, shape(std::min(blocks, 4 * cuda.multiprocessors())), page, ink,
         cores, darkness);
}
template void queue_reconstruct(Cuda &, const Page &, const DeviceBits &, const DeviceComponents &,
                                Plane<std::uint8_t>);
template void queue_reconstruct(Cuda &, const Page &, const DeviceBits &, const DeviceComponents &,
                                Plane<std::uint16_t>);

}  // namespace cudascan::binarize
