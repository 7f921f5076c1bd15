// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/autothreshold/baseline.cuh"

#include "kernels/autothreshold/baseline.h"
#include "kernels/autothreshold/decision.h"
#include "kernels/base/launch.cuh"
#include "kernels/base/pixel_walk.cuh"
#include "kernels/histogram/roi.h"
#include "kernels/planes.h"

namespace cudascan::threshold {
namespace {

using namespace prahara;

constexpr int kThreads = 256, kBlocks = 256;  // for the kernels that read the image

/// The running block. It has as many threads as the largest step needs.
struct Block {
  template <typename Step>
  CUDASCAN_HD void each([[maybe_unused]] int threads, [[maybe_unused]] const Step &step) const {
#ifdef __CUDA_ARCH__
    if (static_cast<int>(threadIdx.x) < threads) step(static_cast<int>(threadIdx.x));
    __syncthreads();
#endif
  }
};

/// Data passed from kernel to kernel, in device memory.
struct Tables {
  Moments moments, sums;
  float cross_entropy[kLevels];
};

/// Turns the level that a method has found into the threshold.
struct Decision {
  autothreshold::Settings settings;
  BaselineHistory history;
  int *threshold;

  __device__ void decide(int found) const {
    if (threadIdx.x > 0) return;
    autothreshold::ThresholdHistory &mine = history.turns[*history.launches % 2];
    *threshold = autothreshold::step(mine, found, settings, mine);
  }
};

/// Algorithm 2: a histogram for each block in shared memory, added to the global one at the end.
__global__ void histogram_kernel(Plane<const std::uint8_t> in, bool ignore_black, bool ignore_white,
                                 std::uint32_t *counts) {
  __shared__ std::uint32_t block_counts[kLevels];
  const int level = static_cast<int>(threadIdx.x);
  block_counts[level] = 0;
  __syncthreads();
  walk_pixels(in.width, in.height,
              [&](int x, int y) { atomicAdd(&block_counts[in.row(y)[x]], 1u); });
  __syncthreads();
  if ((ignore_black && level == 0) || (ignore_white && level == kLevels - 1)) return;
  atomicAdd(&counts[level], block_counts[level]);
}

__global__ void weigh_kernel(const std::uint32_t *counts, AutothresholdMethod method,
                             Moments *moments) {
  __shared__ std::uint32_t pixels;
  const Block block;
  block.each(1, [&](int) { pixels = 0; });
  block.each(kLevels, [&](int t) { atomicAdd(&pixels, counts[t]); });
  weigh(block, counts, pixels, method, *moments);
}

__global__ void scan_kernel(const float *values, float *sums) {
  __shared__ Shared shared;
  const Block block;
  scan(block, shared.a, values, sums);
}

__global__ void otsu_kernel(const Moments *sums, Decision decision) {
  __shared__ Shared shared;
  const Block block;
  decision.decide(otsu(block, shared, *sums));
}

__global__ void isodata_kernel(const Moments *sums, Decision decision) {
  __shared__ Shared shared;
  const Block block;
  decision.decide(isodata(block, shared, *sums));
}

/// A block for each threshold.
__global__ void cross_entropy_kernel(const Moments *moments, const Moments *sums, float *result) {
  __shared__ Shared shared;
  const Block block;
  cross_entropy(block, shared, static_cast<int>(blockIdx.x), *moments, *sums, result);
}

__global__ void minimum_kernel(const float *values, Decision decision) {
  __shared__ Shared shared;
  const Block block;
  decision.decide(minimum(block, shared, values));
}

/// Algorithm 8.
__global__ void apply_kernel(Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
                             const int *threshold, std::uint8_t black, std::uint8_t white) {
  const int t = *threshold;
  walk_pixels(in.width, in.height,
              [&](int x, int y) { out.row(y)[x] = in.row(y)[x] > t ? white : black; });
}

Plane<const std::uint8_t> part_of(const Plane<const std::uint8_t> &in, const Rectangle &roi) {
  const Rectangle part = clip_to_plane(roi, in.width, in.height);
  Plane<const std::uint8_t> plane = in;
  plane.data = in.row(part.y) + part.x;
  plane.width = part.width;
  plane.height = part.height;
  return plane;
}

}  // namespace

void run_prahara(Cuda &cuda, Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
                 const AutothresholdParams &params, const BaselineHistory &history, int *threshold,
                 std::uint32_t *counts) {
  check_method(params.method);
  static const char key = 0;
  const auto tables = static_cast<Tables *>(cuda.history(&key, sizeof(Tables)));
  Moments &moments = tables->moments, &sums = tables->sums;
  const Decision decision{autothreshold::make_settings(params, kLevels), history, threshold};
  cuda.clear(counts, kLevels * sizeof *counts);
  launch(cuda, histogram_kernel, {kBlocks, kThreads}, part_of(in, params.roi), params.ignore_black,
         params.ignore_white, counts);
  launch(cuda, weigh_kernel, {1, kLevels}, counts, params.method, &moments);
  launch(cuda, scan_kernel, {1, kLevels / 2}, moments.order0, sums.order0);
  launch(cuda, scan_kernel, {1, kLevels / 2}, moments.order1, sums.order1);
  if (params.method == AutothresholdMethod::otsu) {
    launch(cuda, otsu_kernel, {1, kLevels}, &sums, decision);
  } else if (params.method == AutothresholdMethod::isodata) {
    launch(cuda, isodata_kernel, {1, kLevels}, &sums, decision);
  } else {
    launch(cuda, scan_kernel, {1, kLevels / 2}, moments.entropy, sums.entropy);
    launch(cuda, cross_entropy_kernel, {kLevels, kLevels}, &moments, &sums, tables->cross_entropy);
    launch(cuda, minimum_kernel, {1, kLevels}, tables->cross_entropy, decision);
  }
  if (params.apply) {
    const std::uint8_t black = params.invert ? out.maximum : 0;
    const std::uint8_t white = params.invert ? 0 : out.maximum;
    launch(cuda, apply_kernel, {kBlocks, kThreads}, in, out, threshold, black, white);
  } else {
    copy(cuda, in, out);
  }
}

}  // namespace cudascan::threshold
