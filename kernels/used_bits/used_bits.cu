// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/used_bits.h"

#include <algorithm>
#include <memory>

#include "kernels/base/launch.cuh"
#include "kernels/base/refuse.h"
#include "kernels/histogram/vectors.cuh"

namespace cudascan {
namespace usedbits {
namespace {

constexpr int kThreads = 512, kBlocksPerProcessor = 4;
constexpr int kKey = 0;

using SampleVectors = histogram::PlaneVectors<const std::uint16_t>;

/// What an executor keeps.
struct UsedBitsState {
  explicit UsedBitsState(int most)
      : device(sizeof(unsigned) * most), host(sizeof(unsigned) * most) {}

  cuda::DeviceBuffer device;  ///< a result of each block
  cuda::PinnedBuffer host;
  cuda::Event done;
  int blocks = 0;
};

/// Each block stores the OR of its share of the samples.
__global__ void __launch_bounds__(kThreads)
    used_bits_kernel(const SampleVectors in, unsigned *results) {
  let_next_kernel_start();
  wait_for_kernels_before();
  __shared__ unsigned block;
  if (threadIdx.x == 0) block = 0;
  __syncthreads();
  const unsigned first = blockIdx.x * kThreads + threadIdx.x, step = gridDim.x * kThreads;
  unsigned used = 0;
  const int n = first < in.count ? static_cast<int>((in.count - first + step - 1) / step) : 0;
  in.walk(first, step, n, [&](const histogram::VectorPlace &p, int) {
    const uint4 v = *in.address(p);
    const unsigned pairs = v.x | v.y | v.z | v.w;
    used |= pairs | pairs >> 16;
  });
  // The ends of rows.
  const int rest = in.rest(), each = in.plane.width - rest;
  const std::int64_t samples = std::int64_t{each} * in.plane.height;
  for (std::int64_t i = first; i < samples; i += step)
    used |= in.plane.row(static_cast<int>(i / each))[rest + static_cast<int>(i % each)];
  for (int lanes = 16; lanes; lanes /= 2) used |= __shfl_xor_sync(~0u, used, lanes);
  if (threadIdx.x % 32 == 0) atomicOr(&block, used & 0xffff);
  __syncthreads();
  if (threadIdx.x == 0) results[blockIdx.x] = block;
}

}  // namespace
}  // namespace usedbits

void find_used_bits(Cuda &cuda, Plane<const std::uint16_t> in) {
  check_sizes(in.width, in.height, in.width, in.height);
  check_rows("input", in);
  const usedbits::SampleVectors vectors(in, histogram::is_aligned(in, 16));
  const std::int64_t samples = std::int64_t{in.width} * in.height;
  const int most = usedbits::kBlocksPerProcessor * cuda.multiprocessors();
  const int blocks =
      std::min(divide_up(samples, usedbits::kThreads * usedbits::SampleVectors::kSamples), most);
  LaunchShape shape{blocks, usedbits::kThreads};
  shape.overlap = cuda.code_architecture() >= 90;
  if (cuda.only_loads()) return launch(cuda, usedbits::used_bits_kernel, shape, vectors, nullptr);

  std::shared_ptr<void> &kept = cuda.kept(&usedbits::kKey);
  if (!kept) kept = std::make_shared<usedbits::UsedBitsState>(most);
  auto &state = *static_cast<usedbits::UsedBitsState *>(kept.get());
  auto *const results = static_cast<unsigned *>(state.device.data());
  launch(cuda, usedbits::used_bits_kernel, shape, vectors, results);
  cuda.fetch(state.host.data(), results, sizeof(unsigned) * blocks);
  state.done.record(cuda.stream());
  state.blocks = blocks;
}

unsigned used_bits(Cuda &cuda) {
  const auto state = std::static_pointer_cast<usedbits::UsedBitsState>(cuda.kept(&usedbits::kKey));
  if (!state) return 0;
  state->done.synchronize();
  const auto *const results = static_cast<const unsigned *>(state->host.data());
  unsigned used = 0;
  for (int i = 0; i < state->blocks; ++i) used |= results[i];
  return used;
}

}  // namespace cudascan
