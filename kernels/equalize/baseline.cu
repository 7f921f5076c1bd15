// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/equalize/baseline.cuh"

#include <algorithm>

#include "kernels/base/launch.cuh"
#include "kernels/base/pixel_walk.cuh"
#include "kernels/equalize/baseline.h"

namespace cudascan::equalize {
namespace {

constexpr int kLevels = 256;
constexpr int kThreads = 1024;       // of a block, the maximum
constexpr int kHistogramLoad = 128;  // pixels that a thread of the shared histogram counts
constexpr int kEqualizeLoad = 32;    // pixels that a thread of the second equalization writes

/// One global increment for each pixel. A row of blocks for each row of pixels.
__global__ void naive_histogram_kernel(Plane<const std::uint8_t> in, std::uint32_t *histogram) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (x < in.width) atomicAdd(&histogram[in.row(static_cast<int>(blockIdx.y))[x]], 1u);
}

/// A histogram for each block in shared memory, added to the global one at the end.
__global__ void shared_histogram_kernel(Plane<const std::uint8_t> in, std::uint32_t *histogram) {
  __shared__ std::uint32_t block_histogram[kLevels];
  if (threadIdx.x < kLevels) block_histogram[threadIdx.x] = 0;
  __syncthreads();
  walk_pixels(in.width, in.height,
              [&](int x, int y) { atomicAdd(&block_histogram[in.row(y)[x]], 1u); });
  __syncthreads();
  if (threadIdx.x < kLevels) atomicAdd(&histogram[threadIdx.x], block_histogram[threadIdx.x]);
}

/// Inclusive scan of Hillis and Steele: in each of log2(256) steps, every level adds the sum of
/// another level below it; the distance doubles with each step. One block with a thread for each
/// level.
__global__ void scan_kernel(const std::uint32_t *histogram, std::uint32_t *cdf) {
  __shared__ std::uint32_t sums[2][kLevels];
  const int level = static_cast<int>(threadIdx.x);
  int from = 0;
  sums[from][level] = histogram[level];
  __syncthreads();
  for (int offset = 1; offset < kLevels; offset *= 2) {
    const std::uint32_t below = level >= offset ? sums[from][level - offset] : 0;
    sums[1 - from][level] = sums[from][level] + below;
    from = 1 - from;
    __syncthreads();
  }
  cdf[level] = sums[from][level];
}

/// A thread, and a division, for each pixel. A row of blocks for each row of pixels.
__global__ void naive_equalize_kernel(Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
                                      const std::uint32_t *cdf) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y);
  if (x >= in.width) return;
  const std::uint32_t pixels = static_cast<std::uint32_t>(in.width) * in.height;
  out.row(y)[x] = baseline_map(cdf[in.row(y)[x]], baseline_factor(pixels));
}

/// Many pixels for each thread, with one division per thread.
__global__ void equalize_kernel(Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
                                const std::uint32_t *cdf) {
  const float factor = baseline_factor(static_cast<std::uint32_t>(in.width) * in.height);
  walk_pixels(in.width, in.height,
              [&](int x, int y) { out.row(y)[x] = baseline_map(cdf[in.row(y)[x]], factor); });
}

}  // namespace

void run_baseline(Cuda &cuda, Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
                  const EqualizeParams &params) {
  constexpr std::size_t kBytes = kLevels * sizeof(std::uint32_t);
  const auto histogram = static_cast<std::uint32_t *>(cuda.scratch(2 * kBytes));
  std::uint32_t *const cdf = histogram + kLevels;
  const bool naive = params.algorithm == EqualizeAlgorithm::naive;
  const int pixels = in.width * in.height;
  const dim3 rows((in.width + kThreads - 1) / kThreads, in.height);

  cuda.clear(histogram, kBytes);
  if (naive) {
    launch(cuda, naive_histogram_kernel, {rows, kThreads}, in, histogram);
  } else {
    const int blocks = std::max(pixels / kThreads / kHistogramLoad, 1);
    launch(cuda, shared_histogram_kernel, {blocks, kThreads}, in, histogram);
  }
  launch(cuda, scan_kernel, {1, kLevels}, histogram, cdf);
  if (naive) {
    launch(cuda, naive_equalize_kernel, {rows, kThreads}, in, out, cdf);
  } else {
    const int load = kThreads * kEqualizeLoad;
    launch(cuda, equalize_kernel, {(pixels + load - 1) / load, kThreads}, in, out, cdf);
  }
}

}  // namespace cudascan::equalize
