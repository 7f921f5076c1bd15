// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// How images are divided into the blocks of kernels that keep counts in shared memory.
#pragma once
#include <algorithm>
#include <optional>

#include "kernels/base/launch.cuh"
#include "kernels/swofilter/rank/digit_scans.cuh"
#include "kernels/swofilter/rank/digits.cuh"
#include "kernels/swofilter/rank/sliding.cuh"

namespace cudascan::swo {

/// Shared memory per block for so many blocks on a multiprocessor, which reserves 1 KiB for each.
inline int shared_memory_each(Cuda &cuda, int resident) {
  return (cuda.most_shared_memory() - 1024 * (resident - 1)) / resident;
}

/// Blocks that all run at the same time.
struct RankBlocks {
  int columns;  // of a block in shared memory
  BlockResults results;
  dim3 blocks;
};
/// @param columns   at most in shared memory
/// @param unit      their number is a multiple of this
/// @param resident  blocks of a multiprocessor
inline RankBlocks rank_blocks(Cuda &cuda, int image_width, int image_height, int rx, int columns,
                              int unit, int resident) {
  const int strips = divide_up(image_width, columns - 2 * rx);
  const int width = divide_up(image_width, strips);
  const int height =
      divide_up(image_height, std::max(resident * cuda.multiprocessors() / strips, 1));
  return {divide_up(width + 2 * rx, unit) * unit,
          {width, height},
          dim3(divide_up(image_width, width), divide_up(image_height, height))};
}

/// The blocks of digits_kernel. None if the device has too little shared memory for the window.
inline std::optional<RankBlocks> digits_blocks(Cuda &cuda, int width, int height, int rx) {
  const auto columns_of = [&](int resident) {
    return std::min(shared_memory_each(cuda, resident) / (32 * kDigitsColumnBytes) * 32,
                    kMostDigitsColumns);
  };
  // Several blocks hide more latency; with fewer blocks, wide windows share more columns.
  int resident = 4;
  while (resident > 1 && columns_of(resident) < 16 * rx) --resident;
  if (columns_of(resident) < 2 * rx + 32) return {};
  return rank_blocks(cuda, width, height, rx, columns_of(resident), 32, resident);
}

/// The instance of digits_kernel for the height of a window.
template <typename Job>
auto digits_kernel_for(int window_height) {
  return window_height < 16    ? digits_kernel<16, Job>
         : window_height < 32  ? digits_kernel<8, Job>
         : window_height < 64  ? digits_kernel<4, Job>
         : window_height < 128 ? digits_kernel<2, Job>
                               : digits_kernel<1, Job>;
}

/// The narrowest windows that digit_scans_kernel is faster for than digits_kernel, whose time is
/// about proportional to the width. And the fewest results in a row of a block that are worth its
/// sums.
constexpr int kNarrowestScanned = 111, kFewestScanned = 128;

/// How digit_scans_kernel is launched.
struct ScanBlocks {
  RankBlocks ranks;
  ScanMemory memory;

  LaunchShape shape(dim3 blocks) const { return {blocks, kScanThreads, memory.bytes()}; }
};
/// None if digits_kernel is faster, also because the device has little shared memory.
inline std::optional<ScanBlocks> scan_blocks(Cuda &cuda, int width, int height, int rx) {
  if (2 * rx + 1 < kNarrowestScanned) return {};
  const int bytes = cuda.most_shared_memory();
  // A single block: its warps cost the same for few columns.
  ScanMemory memory{kMostScannedColumns, kShortBeginnings};
  while (memory.bytes() > bytes) memory.columns -= 32;
  if (memory.columns - 2 * rx < kFewestScanned) return {};
  const RankBlocks ranks = rank_blocks(cuda, width, height, rx, memory.columns, 32, 1);
  memory.columns = ranks.columns;
  while (memory.scans < kLongBeginnings &&
         ScanMemory{memory.columns, memory.scans + 1}.bytes() <= bytes)
    ++memory.scans;
  return ScanBlocks{ranks, memory};
}

/// The blocks of sliding_kernel.
/// @param bytes  of shared memory for a block
inline RankBlocks sliding_blocks(Cuda &cuda, int width, int height, int bytes) {
  const int resident = std::max((cuda.most_shared_memory() + 1024) / (bytes + 1024), 1);
  RankBlocks blocks = rank_blocks(cuda, width, height, 0, kSlidingThreads, 32, resident);
  blocks.results.width = kSlidingThreads;
  blocks.blocks.x = divide_up(width, kSlidingThreads);
  return blocks;
}

}  // namespace cudascan::swo
