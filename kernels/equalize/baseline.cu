// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/equalize/baseline.cuh"

#include <algorithm>
#include <utility>

#include "kernels/base/launch.cuh"
#include "kernels/base/pixel_walk.cuh"

namespace cudascan::equalize {
namespace {

constexpr int kLevels = 256;
constexpr int kThreads = 1024;  // of a block, the maximum
constexpr std::size_t kCountBytes = kLevels * sizeof(std::uint32_t);

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

/// A step of the inclusive scan of Hillis and Steele: every level adds the sum of a level below it.
/// The distance doubles with each of the log2(256) steps. One block with a thread for each level.
__global__ void scan_kernel(const std::uint32_t *sums, std::uint32_t *next, unsigned distance) {
  const unsigned level = threadIdx.x;
  next[level] = level >= distance ? sums[level] + sums[level - distance] : sums[level];
}

/// A thread, and a division of integers, for each pixel. A row of blocks for each row of pixels.
__global__ void naive_equalize_kernel(Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
                                      const std::uint32_t *cdf, std::uint64_t pixels) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y);
  if (x < in.width) out.row(y)[x] = naive_map(cdf[in.row(y)[x]], pixels);
}

/// Many pixels for each thread, with one division per thread.
__global__ void equalize_kernel(Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
                                const std::uint32_t *cdf) {
  const float factor = baseline_factor(static_cast<std::uint32_t>(in.width) * in.height);
  walk_pixels(in.width, in.height,
              [&](int x, int y) { out.row(y)[x] = baseline_map(cdf[in.row(y)[x]], factor); });
}

/// Blocks in which each thread has `load` pixels; the rest adds to that.
int blocks_of(Plane<const std::uint8_t> in, int load) {
  return std::max(in.width * in.height / kThreads / load, 1);
}

/// A thread for each pixel of a row.
LaunchShape thread_for_each(Plane<const std::uint8_t> in) {
  return {dim3(divide_up(in.width, kThreads), in.height), kThreads};
}

}  // namespace

void count_baseline(Cuda &cuda, Plane<const std::uint8_t> in, std::uint32_t *counts,
                    const BaselineVariant &variant) {
  cuda.clear(counts, kCountBytes);
  if (variant.shared_histogram)
    launch(cuda, shared_histogram_kernel, {blocks_of(in, variant.histogram_load), kThreads}, in,
           counts);
  else
    launch(cuda, naive_histogram_kernel, thread_for_each(in), in, counts);
}

void run_baseline(Cuda &cuda, Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
                  const BaselineVariant &variant) {
  auto *sums = static_cast<std::uint32_t *>(cuda.scratch(2 * kCountBytes));
  std::uint32_t *next = sums + kLevels;
  count_baseline(cuda, in, sums, variant);
  for (unsigned distance = 1; distance < kLevels; distance *= 2) {
    launch(cuda, scan_kernel, {1, kLevels}, sums, next, distance);
    std::swap(sums, next);
  }
  if (variant.float_factor)
    launch(cuda, equalize_kernel, {blocks_of(in, variant.mapping_load), kThreads}, in, out, sums);
  else
    launch(cuda, naive_equalize_kernel, thread_for_each(in), in, out, sums,
           static_cast<std::uint64_t>(in.width) * in.height);
}

}  // namespace cudascan::equalize
