// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The code of Najafi, Murali, Lilja, Sartori, "GPU-Accelerated Nick Local Image Thresholding
/// Algorithm", ICPADS 2015, as published, for benchmarks: the serial algorithm and the three CUDA
/// kernels, 8 bits. Sums have 32 bits, mean and threshold are floats, the kernels are compiled with
/// -use_fast_math, and block and window are constants in them, all as in the paper.
///
/// What differs from the listings:
/// - They count a row and a column of the window too few (end - begin, with both included), and two
///   of them let windows reach one pixel beyond the image. Here windows and counts are those of
///   nick.h. This costs two additions a pixel.
/// - Rows of an image may have gaps between them.
/// - White is 255, not 1.
///
/// A float of the threshold is off by about 1e-6 of the largest level, so pixels that are nearer to
/// it may differ from those of nick.h, and those of the CPU from those of the GPU.
#pragma once
#include <cmath>

#include "kernels/nick.h"

namespace cudascan::nick {

enum class PublishedKernel {
  global,         ///< algorithm 2: windows from device memory
  global_shared,  ///< algorithm 3: pixels of the block's tile from shared memory
  shared,         ///< algorithm 4: all pixels from shared memory, a thread loads one
};

/// Sides of blocks and windows in the paper, for which the kernels are compiled.
inline constexpr int kPublishedBlocks[] = {8, 16, 32}, kPublishedWindows[] = {9, 15, 33};

/// Whether the paper has the kernel with this block and window: block + window of the third must be
/// less than 32, as it has a thread for each pixel that it loads.
constexpr bool is_published(PublishedKernel kernel, int block, int window) {
  return (block == 8 || block == 16 || block == 32) &&
         (window == 9 || window == 15 || window == 33) &&
         (kernel != PublishedKernel::shared || block + window < 32);
}

/// Whether a pixel is white.
/// @param n  pixels of the window
CUDASCAN_HD inline bool published_white(int pixel, int sum, int square_sum, int n, float k) {
  const float mean = static_cast<float>(sum) / static_cast<float>(n);
  const float radicand = (static_cast<float>(square_sum) - mean * mean) / static_cast<float>(n);
  return mean + k * sqrtf(radicand) < static_cast<float>(pixel);
}

/// Algorithm 1, in the calling thread. Windows up to 181, whose sums have 32 bits.
CUDASCAN_API void run_published_serial(Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
                                       int window, float k);

/// Queues a kernel. Throws BadSetting unless is_published(); Error in a build without CUDA.
CUDASCAN_API void run_published(Cuda &, Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
                                PublishedKernel kernel, int block, int window, float k);

}  // namespace cudascan::nick
