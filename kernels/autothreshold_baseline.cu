// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/autothreshold_baseline.cuh"

#include "kernels/autothreshold_baseline.h"
#include "kernels/launch.cuh"
#include "kernels/pixel_walk.cuh"

namespace cudascan::threshold {
namespace {

using namespace prahara;

constexpr int kThreads = 256, kBlocks = 256;  // of the kernels that go through the image

/// The running block. Launched with as many threads as a step has at most.
struct Block {
  template <typename Step>
  CUDASCAN_HD void each([[maybe_unused]] int threads, [[maybe_unused]] const Step &step) const {
#ifdef __CUDA_ARCH__
    if (static_cast<int>(threadIdx.x) < threads) step(static_cast<int>(threadIdx.x));
    __syncthreads();
#endif
  }
};

/// What the kernels hand on, in device memory.
struct Tables {
  Moments moments, sums;
  float cross_entropy[kLevels];
};

/// Algorithm 2: a histogram for each block, in shared memory, added to the global one in the end.
__global__ void histogram_kernel(Plane<const std::uint8_t> in, std::uint32_t *counts) {
  __shared__ std::uint32_t block_counts[kLevels];
  block_counts[threadIdx.x] = 0;
  __syncthreads();
  walk_pixels(in.width, in.height,
              [&](int x, int y) { atomicAdd(&block_counts[in.row(y)[x]], 1u); });
  __syncthreads();
  atomicAdd(&counts[threadIdx.x], block_counts[threadIdx.x]);
}

__global__ void weigh_kernel(const std::uint32_t *counts, float pixels, AutothresholdMethod method,
                             Moments *moments) {
  const Block block;
  weigh(block, counts, pixels, method, *moments);
}

__global__ void scan_kernel(const float *values, float *sums) {
  __shared__ Shared shared;
  const Block block;
  scan(block, shared.a, values, sums);
}

__global__ void otsu_kernel(const Moments *sums, int offset, int *threshold) {
  __shared__ Shared shared;
  const Block block;
  const int best = otsu(block, shared, *sums);
  if (threadIdx.x == 0) *threshold = best + offset;
}

__global__ void isodata_kernel(const Moments *sums, int offset, int *threshold) {
  __shared__ Shared shared;
  const Block block;
  const int best = isodata(block, shared, *sums);
  if (threadIdx.x == 0) *threshold = best + offset;
}

/// A block for each threshold.
__global__ void cross_entropy_kernel(const Moments *moments, const Moments *sums, float *result) {
  __shared__ Shared shared;
  const Block block;
  cross_entropy(block, shared, static_cast<int>(blockIdx.x), *moments, *sums, result);
}

__global__ void minimum_kernel(const float *values, int offset, int *threshold) {
  __shared__ Shared shared;
  const Block block;
  const int best = minimum(block, shared, values);
  if (threadIdx.x == 0) *threshold = best + offset;
}

/// Algorithm 8.
__global__ void apply_kernel(Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
                             const int *threshold, std::uint8_t black, std::uint8_t white) {
  const int t = *threshold;
  walk_pixels(in.width, in.height,
              [&](int x, int y) { out.row(y)[x] = in.row(y)[x] > t ? white : black; });
}

}  // namespace

void run_prahara(Cuda &cuda, Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
                 const AutothresholdParams &params, int *threshold, std::uint32_t *counts) {
  check_method(params.method);
  const auto stream = cuda.stream();
  const auto tables = static_cast<Tables *>(cuda.scratch(sizeof(Tables)));
  Moments &moments = tables->moments, &sums = tables->sums;
  const float pixels = static_cast<float>(static_cast<std::uint32_t>(in.width) * in.height);
  CUDA_CHECK(cudaMemsetAsync(counts, 0, kLevels * sizeof *counts, stream));
  launch(histogram_kernel, {kBlocks, kThreads}, stream, in, counts);
  launch(weigh_kernel, {1, kLevels}, stream, counts, pixels, params.method, &moments);
  launch(scan_kernel, {1, kLevels / 2}, stream, moments.order0, sums.order0);
  launch(scan_kernel, {1, kLevels / 2}, stream, moments.order1, sums.order1);
  if (params.method == AutothresholdMethod::otsu) {
    launch(otsu_kernel, {1, kLevels}, stream, &sums, params.offset, threshold);
  } else if (params.method == AutothresholdMethod::isodata) {
    launch(isodata_kernel, {1, kLevels}, stream, &sums, params.offset, threshold);
  } else {
    launch(scan_kernel, {1, kLevels / 2}, stream, moments.entropy, sums.entropy);
    launch(cross_entropy_kernel, {kLevels, kLevels}, stream, &moments, &sums,
           tables->cross_entropy);
    launch(minimum_kernel, {1, kLevels}, stream, tables->cross_entropy, params.offset, threshold);
  }
  if (params.apply) {
    const std::uint8_t black = params.invert ? out.maximum : 0;
    const std::uint8_t white = params.invert ? 0 : out.maximum;
    launch(apply_kernel, {kBlocks, kThreads}, stream, in, out, threshold, black, white);
  } else {
    cuda::copy_rows(out.data, out.stride, in.data, in.stride, in.width, in.height, stream);
  }
}

}  // namespace cudascan::threshold
