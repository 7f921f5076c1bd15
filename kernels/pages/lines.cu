// SPDX-License-Identifier: LGPL-2.1-or-later
// A kernel sums along the lines of all slopes and strips; then a block makes the squares of each
// slope.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "kernels/base/launch.cuh"
#include "kernels/base/warp_sums.cuh"
#include "kernels/pages/pages.h"

namespace cudascan::pages {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;
constexpr int kMostSlopes = 128;  // of one launch
constexpr int kParts = 8;
constexpr int kKey = 0;

struct LineJob {
  ColumnNumbers numbers;
  int margin, around;
  int rows;  ///< lines
  int strips;
  double slopes[kMostSlopes];
  std::int16_t *sums;  ///< by slope, strip and line

  __device__ const std::int16_t *strip(int slope, int i) const {
    return sums + static_cast<std::int64_t>(slope * strips + i) * rows;
  }
};

__global__ void __launch_bounds__(kThreads) sum_lines_kernel(const __grid_constant__ LineJob job) {
  __shared__ int shifts[kMostColumns];
  const int slope = static_cast<int>(blockIdx.y), strip = static_cast<int>(blockIdx.z);
  const int width = job.numbers.width, height = job.numbers.height;
  const int begin = (strip * width + job.strips - 1) / job.strips,
            end = ((strip + 1) * width + job.strips - 1) / job.strips;
  for (int x = begin + static_cast<int>(threadIdx.x); x < end; x += kThreads)
    shifts[x - begin] =
        job.margin + static_cast<int>(lround((x - 0.5 * width) * job.slopes[slope]));
  __syncthreads();
  const int y = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  if (y >= job.rows) return;
  int sum = 0;
  const std::int8_t *column =
      job.numbers.data + static_cast<std::int64_t>(begin) * job.numbers.stride;
  for (int i = 0; i < end - begin; ++i, column += job.numbers.stride) {
    const int at = y - shifts[i];
    if (static_cast<unsigned>(at) < static_cast<unsigned>(height)) sum += column[at];
  }
  job.sums[static_cast<std::int64_t>(slope * job.strips + strip) * job.rows + y] =
      static_cast<std::int16_t>(sum);
}

/// The sum of a value of each thread of the block, for the first thread.
__device__ std::int64_t block_sum(std::int64_t value) {
  __shared__ std::uint64_t sums[kWarps];
  const std::uint64_t warp = warp_sum(static_cast<std::uint64_t>(value));
  __syncthreads();
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = warp;
  __syncthreads();
  std::uint64_t sum = 0;
  if (threadIdx.x == 0)
    for (const std::uint64_t one : sums) sum += one;
  return static_cast<std::int64_t>(sum);
}

/// The largest value, for all threads.
__device__ std::uint32_t block_max(std::uint32_t value) {
  __shared__ std::uint32_t largest[kWarps];
  const std::uint32_t warp = warp_max(value);
  __syncthreads();
  if (threadIdx.x % 32 == 0) largest[threadIdx.x / 32] = warp;
  __syncthreads();
  std::uint32_t most = 0;
  for (const std::uint32_t one : largest) most = max(most, one);
  return most;
}

__device__ std::int64_t square(int sum) {
  return std::int64_t{sum} * sum;
}

__global__ void __launch_bounds__(kThreads)
    half_squares_kernel(const __grid_constant__ LineJob job, HalfSquares *results) {
  const int slope = static_cast<int>(blockIdx.x), rows = job.rows;
  const std::int16_t *left = job.strip(slope, 0), *right = job.strip(slope, 1);
  const auto line = [&](int y) { return left[y] + right[y]; };
  // The strength above, and the line below, so that the first of equal ones is the largest.
  const auto strength = [&](int y) {
    return static_cast<std::uint32_t>(abs(line(y))) << 16 | (0xffffu - static_cast<unsigned>(y));
  };
  HalfSquares mine{};
  std::uint32_t strongest = 0;
  for (int y = static_cast<int>(threadIdx.x); y < rows; y += kThreads) {
    mine.left += square(left[y]);
    mine.right += square(right[y]);
    (y < rows / 2 ? mine.top : mine.bottom) += square(line(y));
    strongest = max(strongest, strength(y));
  }
  const int first = static_cast<int>(0xffff - (block_max(strongest) & 0xffff));
  const auto is_near = [&](int y, int other) { return abs(y - other) <= job.around; };
  strongest = 0;
  for (int y = static_cast<int>(threadIdx.x); y < rows; y += kThreads)
    if (!is_near(y, first)) strongest = max(strongest, strength(y));
  const int second = static_cast<int>(0xffff - (block_max(strongest) & 0xffff));
  for (int y = static_cast<int>(threadIdx.x); y < rows; y += kThreads)
    if (!is_near(y, first) && !is_near(y, second)) mine.most += square(line(y));
  const HalfSquares all{block_sum(mine.left), block_sum(mine.right), block_sum(mine.top),
                        block_sum(mine.bottom), block_sum(mine.most)};
  if (threadIdx.x == 0) results[slope] = all;
}

__global__ void __launch_bounds__(kThreads)
    part_squares_kernel(const __grid_constant__ LineJob job, PartSquares *results) {
  const int slope = static_cast<int>(blockIdx.x);
  std::int64_t mine[4] = {};
  for (int y = static_cast<int>(threadIdx.x); y < job.rows; y += kThreads) {
    int sums[kParts];
#pragma unroll
    for (int i = 0; i < kParts; ++i) sums[i] = job.strip(slope, i)[y];
#pragma unroll
    for (int level = 0; level < 4; ++level) {
      const int strips = kParts >> level;
#pragma unroll
      for (int i = 0; i < strips; ++i) mine[level] += square(sums[i]);
#pragma unroll
      for (int i = 0; i < strips / 2; ++i) sums[i] = sums[2 * i] + sums[2 * i + 1];
    }
  }
  PartSquares all;
  for (int level = 0; level < 4; ++level) all.level[level] = block_sum(mine[level]);
  if (threadIdx.x == 0) results[slope] = all;
}

/// What an executor keeps.
struct LinesState {
  cuda::DeviceBuffer numbers;
  cuda::PinnedBuffer host;
};

template <typename Result>
std::vector<Result> squares(Cuda &cuda, void (*kernel)(LineJob, Result *),
                            const ColumnNumbers &numbers, int strips, int margin, int around,
                            const std::vector<double> &slopes) {
  if (numbers.width > kMostColumns)
    throw Error("a page of " + std::to_string(numbers.width) + " columns is too wide for lines");
  std::vector<Result> results;
  LineJob job{};
  job.numbers = numbers;
  job.margin = margin;
  job.around = around;
  job.rows = numbers.height + 2 * margin;
  job.strips = strips;
  for (std::size_t begin = 0; begin < slopes.size(); begin += kMostSlopes) {
    const unsigned count =
        static_cast<unsigned>(std::min<std::size_t>(kMostSlopes, slopes.size() - begin));
    std::copy_n(slopes.begin() + static_cast<std::ptrdiff_t>(begin), count, job.slopes);
    const std::size_t bytes = sizeof(Result) * count;
    const std::size_t lines = std::size_t{count} * strips * job.rows;
    auto *const memory =
        static_cast<unsigned char *>(cuda.scratch(sizeof(Result) * kMostSlopes + 2 * lines));
    auto *const device = reinterpret_cast<Result *>(memory);
    job.sums = reinterpret_cast<std::int16_t *>(memory + sizeof(Result) * kMostSlopes);
    auto *const host = static_cast<Result *>(cuda.report_memory(bytes));
    const dim3 blocks(divide_up(job.rows, kThreads), count, strips);
    launch(cuda, sum_lines_kernel, {blocks, kThreads}, job);
    launch(cuda, kernel, {count, kThreads}, job, device);
    cuda.fetch(host, device, bytes);
    cuda.synchronize();
    results.insert(results.end(), host, host + count);
  }
  return results;
}

}  // namespace

ColumnNumbers upload(Cuda &cuda, const ColumnNumbers &host) {
  std::shared_ptr<void> &kept = cuda.kept(&kKey);
  if (!kept) kept = std::make_shared<LinesState>();
  auto &state = *static_cast<LinesState *>(kept.get());
  cuda.synchronize();  // the numbers before may still be on their way
  const std::size_t bytes = static_cast<std::size_t>(host.width) * host.height;
  auto *const pinned = static_cast<std::int8_t *>(state.host.reserve(bytes));
  for (std::size_t x = 0; x < static_cast<std::size_t>(host.width); ++x)
    std::memcpy(pinned + x * host.height, host.data + x * host.stride, host.height);
  auto *const device = static_cast<std::int8_t *>(state.numbers.reserve(bytes));
  cuda::copy_rows(device, host.height, pinned, host.height, host.height, host.width, cuda.stream());
  return {device, host.width, host.height, host.height};
}

std::vector<HalfSquares> half_squares(Cuda &cuda, const ColumnNumbers &numbers, int margin,
                                      int around, const std::vector<double> &slopes) {
  return squares(cuda, half_squares_kernel, numbers, 2, margin, around, slopes);
}

std::vector<PartSquares> part_squares(Cuda &cuda, const ColumnNumbers &numbers, int margin,
                                      const std::vector<double> &slopes) {
  return squares(cuda, part_squares_kernel, numbers, kParts, margin, 0, slopes);
}

}  // namespace cudascan::pages
