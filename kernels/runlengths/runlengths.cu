// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/runlengths.h"

#include <algorithm>

#include "kernels/base/launch.cuh"
#include "kernels/base/refuse.h"
#include "kernels/base/warp_sums.cuh"
#include "kernels/histogram/roi.h"
#include "kernels/runlengths/runs.cuh"
#include "kernels/runlengths/sparse.h"

namespace cudascan {
namespace runlengths {
namespace {

constexpr int kThreads = 256;

/// The last pixels of a rectangle.
struct Corner {
  int x, y;
};

/// Counts the runs along a row that end in a word.
__device__ void count_in_row(const DeviceBits &bits, const Rectangle &inside, const Corner &last,
                             int i, int y, std::uint32_t *counts) {
  const std::uint32_t word = bits.row(y)[i];
  if (word == 0) return;
  std::uint32_t ends = word & ~(word >> 1 | bits.at(i + 1, y) << 31);
  // The last pixel inside ends a run.
  if (last.x / 32 == i) ends |= word & 1u << last.x % 32;
  for (; ends; ends &= ends - 1) {
    const int bit = __ffs(ends) - 1, end = 32 * i + bit;
    if (end < inside.x || end > last.x) continue;
    int length = min(__clz(~word << (31 - bit)), bit + 1);
    if (length == bit + 1) {
      // All words that matter at once.
      std::uint32_t before[kBins / 32];
#pragma unroll
      for (int k = 0; k < kBins / 32; ++k) before[k] = bits.at(i - 1 - k, y);
#pragma unroll
      for (int k = 0; k < kBins / 32; ++k)
        if (length == bit + 1 + 32 * k) length += __clz(~before[k]);
    }
    const int begin = max(end - length + 1, inside.x);
    length = end - begin + 1;
    const bool touches = begin == inside.x || end == last.x;
    if (!touches || length >= kBins - 1) atomicAdd(&counts[min(length, kBins - 1)], 1u);
  }
}

/// The runs along columns that end in a word of each lane of a warp.
class ColumnRuns {
 public:
  /// All lanes of the warp call it.
  /// @param active  whether the lane has a word
  __device__ ColumnRuns(const DeviceBits &bits, const Rectangle &inside, const Corner &last, int i,
                        int y, bool active)
      : bits_(bits), top_(inside.y), i_(i), y_(y), ends_(y < last.y) {
    if (!active) return;
    const int left = inside.x - 32 * i, right = last.x - 32 * i;  // bits
    if (right < 0 || left > 31) return;
    alive_ = bits.row(y)[i] & (left > 0 ? ~0u << left : ~0u) &
             (right < 31 ? ~(~0u << (right + 1)) : ~0u);
    if (ends_) alive_ &= ~bits.row(y + 1)[i];
  }
  __device__ void count(std::uint32_t *counts) {
    if (__any_sync(kWholeWarp, alive_ != 0)) look<8>(counts);
    while (__any_sync(kWholeWarp, alive_ != 0)) look<32>(counts);
  }

 private:
  /// Looks at some rows above, which it reads at once.
  template <int rows>
  __device__ void look(std::uint32_t *counts) {
    std::uint32_t above[rows];
#pragma unroll
    for (int k = 0; k < rows; ++k) {
      const int row = y_ - length_ - k;
      above[k] = alive_ && row >= top_ ? bits_.row(row)[i_] : 0;
    }
#pragma unroll
    for (int k = 0; k < rows; ++k) {
      const bool longest = length_ + k == kBins - 1;
      // Runs that begin or end at the edge are left out, unless they are long.
      const bool known = longest || (ends_ && y_ - length_ - k >= top_);
      const std::uint32_t ended = longest ? alive_ : alive_ & ~above[k];
      add(counts, length_ + k, known ? ended : 0);
      alive_ &= ~ended;
    }
    length_ += rows;
  }
  /// Adds up the lanes first: they often have runs of the same length.
  static __device__ void add(std::uint32_t *counts, int length, std::uint32_t ended) {
    const std::uint32_t sum = warp_sum(static_cast<std::uint32_t>(__popc(ended)));
    if (sum && threadIdx.x % 32 == 0) atomicAdd(&counts[min(length, kBins - 1)], sum);
  }

  const DeviceBits &bits_;
  const int top_, i_, y_;
  const bool ends_;          ///< whether runs end here, and not at the edge of the part
  int length_ = 1;           ///< of the runs so far
  std::uint32_t alive_ = 0;  ///< columns whose runs go on
};

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
  const int lane = threadIdx.x % 32;
  for (int first = blockIdx.x * kThreads + threadIdx.x - lane; first < all;
       first += kThreads * gridDim.x) {
    const int k = first + lane, y = first_row + k / words * row_step;
    const int i = first_word + k % words * step;
    if (!rows)
      ColumnRuns(bits, inside, last, i, y, k < all).count(own);
    else if (k < all)
      count_in_row(bits, inside, last, i, y, own);
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
void count_any(Cuda &cuda, Plane<const T> in, const RunLengthParams &params, RunLengths &counts) {
  check_rows("input", in);
  check_roi(params.roi, in.width, in.height);
  const int stride = DeviceBits::stride_of(in.width);
  const std::size_t words = std::size_t{1} * stride * in.height;
  auto *const device =
      static_cast<RunCounts *>(cuda.scratch(sizeof(RunCounts) + words * sizeof(std::uint32_t)));
  const DeviceBits bits{reinterpret_cast<std::uint32_t *>(device + 1), in.width, in.height, stride};
  cuda.clear(device, sizeof(RunCounts));
  LaunchShape shape{dim3(divide_up(in.width, kThreads), in.height), kThreads};
  shape.overlap = cuda.code_architecture() >= 90;
  launch(cuda, pack_kernel<T>, shape, in, params.level, bits);
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

void queue_count_runs(Cuda &cuda, const DeviceBits &bits, const Rectangle &inside, bool sparse,
                      RunCounts *counts, const unsigned *skip) {
  // Each block adds its counts to the same few numbers: so there are not too many.
  const std::int64_t words = std::int64_t{inside.height} * bits.stride / (sparse ? kSparse : 1);
  const int blocks =
      std::min(divide_up(words, kThreads), (sparse ? 2 : 4) * cuda.multiprocessors());
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
