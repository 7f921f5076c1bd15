// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/pages/pages.h"

#include <algorithm>
#include <type_traits>

#include "kernels/base/launch.cuh"

namespace cudascan::pages {
namespace {

constexpr int kAcross = 32, kDown = 8;  // threads of a block

LaunchShape tiles(int width, int height) {
  return {dim3(divide_up(width, kAcross), divide_up(height, kDown)), dim3(kAcross, kDown)};
}
__device__ int here_x() {
  return static_cast<int>(blockIdx.x * kAcross + threadIdx.x);
}
__device__ int here_y() {
  return static_cast<int>(blockIdx.y * kDown + threadIdx.y);
}

template <typename T>
__global__ void __launch_bounds__(kAcross *kDown)
    means_kernel(const Plane<const T> in, int by_x, int by_y, const Plane<std::uint8_t> out) {
  const int x = here_x(), y = here_y();
  if (x >= out.width || y >= out.height) return;
  std::uint32_t sum = 0;
  for (int row = y * by_y; row < (y + 1) * by_y; ++row) {
    const T *samples = in.row(row) + x * by_x;
    for (int i = 0; i < by_x; ++i) sum += samples[i] >> (8 * (sizeof(T) - 1));
  }
  out.row(y)[x] = static_cast<std::uint8_t>(sum / static_cast<unsigned>(by_x * by_y));
}

constexpr int kThreads = 256;

/// Words of 32 bits that lie within rows are compared as a whole. Rows begin at words.
template <typename T>
__global__ void __launch_bounds__(kThreads)
    kinds_kernel(const Plane<const T> in, LevelKinds *kinds) {
  constexpr int kSamples = 4 / sizeof(T);
  constexpr std::uint32_t kOnes = sizeof(T) == 1 ? 0x01010101u : 0x00010001u;
  constexpr std::uint32_t kLargest = sizeof(T) == 1 ? 255 : 65535;
  const std::uint32_t first = in.data[0], all = first * kOnes;
  const int words = in.width / kSamples;
  bool differs = false, between = false;
  for (int y = static_cast<int>(blockIdx.x); y < in.height; y += static_cast<int>(gridDim.x)) {
    const auto *row = reinterpret_cast<const std::uint32_t *>(in.row(y));
    for (int i = static_cast<int>(threadIdx.x); i < words; i += kThreads) {
      const std::uint32_t word = row[i];
      differs |= word != all;
      between |= ((word >> (8 * sizeof(T) - 1)) & kOnes) * kLargest != word;
    }
    const int rest = words * kSamples + static_cast<int>(threadIdx.x);
    if (rest < in.width) {
      const std::uint32_t sample = in.row(y)[rest];
      differs |= sample != first;
      between |= sample != 0 && sample != kLargest;
    }
  }
  // All threads store the same.
  if (differs) kinds->differs = 1;
  if (between) kinds->between = 1;
  if (blockIdx.x == 0 && threadIdx.x == 0) kinds->first = first;
}

template <typename T>
__global__ void __launch_bounds__(kAcross *kDown)
    fill_kernel(int cell, const Plane<const std::uint8_t> marked,
                const Plane<const std::uint8_t> levels, const Plane<T> page) {
  const int x = here_x(), y = here_y();
  if (x >= page.width || y >= page.height) return;
  const int column = min(x / cell, marked.width - 1), row = min(y / cell, marked.height - 1);
  if (marked.row(row)[column])
    page.row(y)[x] = static_cast<T>(levels.row(row)[column] * (sizeof(T) == 1 ? 1 : 257));
}

constexpr int kGainBits = 10, kShareBits = 8;

/// Where a sample lies between the centres of two blocks.
struct BlocksAround {
  __device__ BlocksAround(int at, int by, int blocks) {
    const int from_first = max(0, at - by / 2);
    before = min(from_first / by, blocks - 1);
    after = min(before + 1, blocks - 1);
    share = ((from_first % by) << kShareBits) / by;
  }
  __device__ std::uint32_t mix(std::uint32_t a, std::uint32_t b) const {
    return (a * ((1u << kShareBits) - share) + b * share) >> kShareBits;
  }
  int before, after;
  std::uint32_t share;
};

template <typename T>
__global__ void __launch_bounds__(kAcross *kDown)
    gains_kernel(int by, const Plane<const std::uint16_t> gains, const Plane<T> page) {
  const int x = here_x(), y = here_y();
  if (x >= page.width || y >= page.height) return;
  const BlocksAround across(x, by, gains.width), down(y, by, gains.height);
  const auto gain = [&](int row) {
    return across.mix(gains.row(row)[across.before], gains.row(row)[across.after]);
  };
  const std::uint32_t level =
      (page.row(y)[x] * down.mix(gain(down.before), gain(down.after))) >> kGainBits;
  page.row(y)[x] = static_cast<T>(min(level, sizeof(T) == 1 ? 255u : 65535u));
}

template <typename T>
LevelKinds find_kinds(Cuda &cuda, Plane<const T> in) {
  auto *const kinds = static_cast<LevelKinds *>(cuda.scratch(sizeof(LevelKinds)));
  auto *const host = static_cast<LevelKinds *>(cuda.report_memory(sizeof(LevelKinds)));
  cuda.clear(kinds, sizeof(LevelKinds));
  const int blocks = std::min(in.height, 4 * cuda.multiprocessors());
  launch(cuda, kinds_kernel<T>, {static_cast<unsigned>(blocks), kThreads}, in, kinds);
  cuda.fetch(host, kinds, sizeof(LevelKinds));
  cuda.synchronize();
  return *host;
}

}  // namespace

void queue_means(Cuda &cuda, Plane<const std::uint8_t> in, int by_x, int by_y,
                 Plane<std::uint8_t> out) {
  launch(cuda, means_kernel<std::uint8_t>, tiles(out.width, out.height), in, by_x, by_y, out);
}
void queue_means(Cuda &cuda, Plane<const std::uint16_t> in, int by_x, int by_y,
                 Plane<std::uint8_t> out) {
  launch(cuda, means_kernel<std::uint16_t>, tiles(out.width, out.height), in, by_x, by_y, out);
}

LevelKinds level_kinds(Cuda &cuda, Plane<const std::uint8_t> in) {
  return find_kinds(cuda, in);
}
LevelKinds level_kinds(Cuda &cuda, Plane<const std::uint16_t> in) {
  return find_kinds(cuda, in);
}

void queue_fill(Cuda &cuda, int cell, Plane<const std::uint8_t> marked,
                Plane<const std::uint8_t> levels, Plane<std::uint8_t> page) {
  launch(cuda, fill_kernel<std::uint8_t>, tiles(page.width, page.height), cell, marked, levels,
         page);
}
void queue_fill(Cuda &cuda, int cell, Plane<const std::uint8_t> marked,
                Plane<const std::uint8_t> levels, Plane<std::uint16_t> page) {
  launch(cuda, fill_kernel<std::uint16_t>, tiles(page.width, page.height), cell, marked, levels,
         page);
}

void queue_gains(Cuda &cuda, int by, Plane<const std::uint16_t> gains, Plane<std::uint8_t> page) {
  launch(cuda, gains_kernel<std::uint8_t>, tiles(page.width, page.height), by, gains, page);
}
void queue_gains(Cuda &cuda, int by, Plane<const std::uint16_t> gains, Plane<std::uint16_t> page) {
  launch(cuda, gains_kernel<std::uint16_t>, tiles(page.width, page.height), by, gains, page);
}

}  // namespace cudascan::pages
