// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/runlengths.h"

#include <algorithm>

#include "kernels/base/launch.cuh"
#include "kernels/base/refuse.h"
#include "kernels/histogram/roi.h"
#include "kernels/runlengths/runs.cuh"
#include "kernels/runlengths/sparse.h"

namespace cudascan {
namespace runlengths {
namespace {

constexpr int kThreads = 512;
constexpr int kAhead = 16;  // words of a column that are in flight

/// The last pixels of a rectangle.
struct Corner {
  int x, y;
};

/// Counts the runs along a row that end in a word.
__device__ void count_in_row(const DeviceBits &bits, const Rectangle &inside, const Corner &last,
                             int i, int y, std::uint32_t *counts) {
  const std::uint32_t word = bits.row(y)[i];
  std::uint32_t ends = word & ~(word >> 1 | bits.at(i + 1, y) << 31);
  // The last pixel inside ends a run.
  if (last.x / 32 == i) ends |= word & 1u << last.x % 32;
  for (; ends; ends &= ends - 1) {
    const int bit = __ffs(ends) - 1, end = 32 * i + bit;
    if (end < inside.x || end > last.x) continue;
    int length = min(__clz(~word << (31 - bit)), bit + 1);
    for (int before = i - 1; length == end - 32 * before - 31 && length < kBins && before >= 0;
         --before)
      length += __clz(~bits.row(y)[before]);
    const int begin = max(end - length + 1, inside.x);
    length = end - begin + 1;
    const bool touches = begin == inside.x || end == last.x;
    if (!touches || length >= kBins - 1) atomicAdd(&counts[min(length, kBins - 1)], 1u);
  }
}

/// Counts the runs along columns that end in a word.
__device__ void count_in_columns(const DeviceBits &bits, const Rectangle &inside,
                                 const Corner &last, int i, int y, std::uint32_t *counts) {
  const int left = inside.x - 32 * i, right = last.x - 32 * i;  // bits
  if (right < 0 || left > 31) return;
  std::uint32_t alive = bits.row(y)[i];
  if (y < last.y) alive &= ~bits.row(y + 1)[i];
  alive &= (left > 0 ? ~0u << left : ~0u) & (right < 31 ? ~(~0u << (right + 1)) : ~0u);
  const auto add = [&](int length, std::uint32_t ended) {
    if (ended) atomicAdd(&counts[length], static_cast<std::uint32_t>(__popc(ended)));
  };
  for (int length = 1; alive; length += kAhead) {
    std::uint32_t above[kAhead];
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      const int row = y - length - k;
      above[k] = row >= inside.y ? bits.row(row)[i] : 0;
    }
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      const int long_enough = kBins - 1;
      if (length + k == long_enough) return add(long_enough, alive);
      // Runs that begin or end at the edge are left out.
      if (y < last.y && y - length - k >= inside.y) add(length + k, alive & ~above[k]);
      alive &= above[k];
    }
  }
}

__global__ void __launch_bounds__(kThreads)
    count_runs_kernel(const DeviceBits bits, const Rectangle inside, bool sparse, RunCounts *counts,
                      const unsigned *skip) {
  let_next_kernel_start();
  wait_for_kernels_before();
  if (skip && *skip) return;
  __shared__ std::uint32_t own[kBins];
  for (int i = threadIdx.x; i < kBins; i += kThreads) own[i] = 0;
  __syncthreads();
  const Corner last{inside.x + inside.width - 1, inside.y + inside.height - 1};
  const bool rows = blockIdx.y == 0;
  // Some of the words of a row, and of the rows.
  const int first_word = rows || !sparse ? inside.x / kGroup : first_sparse_group(inside);
  const int step = rows || !sparse ? 1 : kSparse, row_step = rows && sparse ? kSparse : 1;
  const int words = (last.x / kGroup - first_word + step) / step;
  const int first_row = (inside.y + row_step - 1) / row_step * row_step;
  const int all = words * ((last.y - first_row + row_step) / row_step);
  for (int k = blockIdx.x * kThreads + threadIdx.x; k < all; k += kThreads * gridDim.x) {
    const int y = first_row + k / words * row_step, i = first_word + k % words * step;
    if (bits.row(y)[i] == 0) continue;
    if (rows)
      count_in_row(bits, inside, last, i, y, own);
    else
      count_in_columns(bits, inside, last, i, y, own);
  }
  __syncthreads();
  std::uint32_t *const to = rows ? counts->rows : counts->columns;
  for (int i = threadIdx.x; i < kBins; i += kThreads)
    if (own[i]) atomicAdd(&to[i], own[i]);
}

/// Packs whether samples are at or below a level; a warp makes a word.
template <typename T>
__global__ void __launch_bounds__(kThreads)
    pack_kernel(const Plane<const T> in, unsigned level, const DeviceBits bits) {
  let_next_kernel_start();
  wait_for_kernels_before();
  const int x = blockIdx.x * kThreads + threadIdx.x, y = blockIdx.y;
  const bool ink = x < in.width && in.row(y)[x] <= level;
  const std::uint32_t word = __ballot_sync(~0u, ink);
  if (threadIdx.x % 32 == 0 && x < in.width) bits.row(y)[x / 32] = word;
}

template <typename T>
void pack(Cuda &cuda, Plane<const T> in, unsigned level, const DeviceBits &bits) {
  LaunchShape shape{dim3(divide_up(in.width, kThreads), in.height), kThreads};
  shape.overlap = cuda.code_architecture() >= 90;
  launch(cuda, pack_kernel<T>, shape, in, level, bits);
}

template <typename T>
void count_any(Cuda &cuda, Plane<const T> in, const RunLengthParams &params, RunLengths &counts) {
  check_rows("input", in);
  check_roi(params.roi, in.width, in.height);
  const int stride = DeviceBits::stride_of(in.width);
  const std::size_t words = std::size_t{1} * stride * in.height;
  auto *const device =
      static_cast<RunCounts *>(cuda.scratch(sizeof(RunCounts) + words * sizeof(std::uint32_t)));
  const DeviceBits bits{reinterpret_cast<std::uint32_t *>(device + 1), in.width, in.height, stride};
  cuda.clear(device, sizeof(RunCounts));
  pack(cuda, in, params.level, bits);
  queue_count_runs(cuda, bits, clip_to_plane(params.roi, in.width, in.height), params.sparse,
                   device, nullptr);
  auto *const host = static_cast<RunCounts *>(cuda.report_memory(sizeof(RunCounts)));
  cuda.fetch(host, device, sizeof(RunCounts));
  cuda.on_complete([=, &counts] {
    std::copy(host->rows, host->rows + kBins, counts.rows.begin());
    std::copy(host->columns, host->columns + kBins, counts.columns.begin());
  });
}

}  // namespace

void queue_pack(Cuda &cuda, Plane<const std::uint8_t> in, unsigned level, const DeviceBits &bits) {
  pack(cuda, in, level, bits);
}
void queue_pack(Cuda &cuda, Plane<const std::uint16_t> in, unsigned level, const DeviceBits &bits) {
  pack(cuda, in, level, bits);
}

void queue_count_runs(Cuda &cuda, const DeviceBits &bits, const Rectangle &inside, bool sparse,
                      RunCounts *counts, const unsigned *skip) {
  // Each block adds its counts to the same few numbers: so there are not too many.
  const std::int64_t words = std::int64_t{inside.height} * bits.stride / (sparse ? kSparse : 1);
  const int blocks =
      std::min(divide_up(words, kThreads), (sparse ? 1 : 2) * cuda.multiprocessors());
  LaunchShape shape{dim3(std::max(blocks, 1), 2), kThreads};
  shape.overlap = cuda.code_architecture() >= 90;
  launch(cuda, count_runs_kernel, shape, bits, inside, sparse, counts, skip);
}

}  // namespace runlengths

void count_runs(Cuda &cuda, Plane<const std::uint8_t> in, const RunLengthParams &params,
                RunLengths &counts) {
  runlengths::count_any(cuda, in, params, counts);
}
void count_runs(Cuda &cuda, Plane<const std::uint16_t> in, const RunLengthParams &params,
                RunLengths &counts) {
  runlengths::count_any(cuda, in, params, counts);
}

}  // namespace cudascan
