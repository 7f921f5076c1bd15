// SPDX-License-Identifier: LGPL-2.1-or-later
// A warp processes a segment of a row in shared memory. Extrema of windows grow from extrema of
// segments up to a fourth as long, so a window of 15 samples takes two steps. Columns are rows of
// the transposed plane: 16 warps write 16 rows side by side, 32 bytes at a time.
#include "kernels/binarize/windows.cuh"

#include <algorithm>

#include "kernels/base/launch.cuh"
#include "kernels/base/packed_samples.cuh"
#include "kernels/base/warp_sums.cuh"

namespace cudascan::binarize {
namespace {

constexpr int kMostWarps = 16;  // of a block: rows
constexpr int kAhead = 6;       // words of a lane that are in flight

__device__ unsigned extreme(bool largest, unsigned a, unsigned b) {
  return largest ? __vmaxu2(a, b) : __vminu2(a, b);
}

/// A segment of a row in shared memory, two samples in a word.
struct Segment {
  unsigned *words;
  int n;  ///< words

  /// The pair of samples from `sample` on.
  __device__ unsigned pair(int sample) const {
    const unsigned low = words[sample / 2];
    return sample % 2 ? __funnelshift_r(low, words[sample / 2 + 1], 16) : low;
  }

  /// Each sample becomes the extremum of itself and those after it, `window` in all. Reads up to
  /// window samples after the end.
  __device__ void widen(bool largest, int window) const {
    if (window == 1) return;
    int length = min(4, window);
    const bool fourth = length == 4;
    each([&](int i) {
      const unsigned a = words[i], b = words[i + 1], c = words[i + 2];
      const unsigned two = extreme(largest, a, __funnelshift_r(a, b, 16));
      return extreme(largest, two, fourth ? extreme(largest, b, __funnelshift_r(b, c, 16)) : b);
    });
    while (length < window) {
      const int to = min(4 * length, window), last = to - length, shift = 16 * (last % 2);
      // Up to four segments side by side or overlapping: two in the middle may be missing.
      const int second = length / 2, third = min(2 * length, last) / 2;
      const bool two = last <= length;
      each([&](int i) {
        const unsigned *const w = words + i;
        const unsigned end = __funnelshift_r(w[last / 2], w[last / 2 + 1], shift);
        const unsigned half = extreme(largest, w[0], end);
        if (two) return half;
        return extreme(largest, half, extreme(largest, w[second], w[third]));
      });
      length = to;
    }
  }
  /// Replaces each word i by f(i), which reads only words from i on.
  template <typename F>
  __device__ void each(const F &f) const {
    const int lane = threadIdx.x % 32;
    for (int base = 0; base < n; base += 32 * kAhead) {
      unsigned wide[kAhead];
#pragma unroll
      for (int k = 0; k < kAhead; ++k)
        if (base + 32 * k < n) wide[k] = f(min(base + 32 * k + lane, n - 1));
      __syncwarp();
#pragma unroll
      for (int k = 0; k < kAhead; ++k)
        if (base + 32 * k + lane < n) words[base + 32 * k + lane] = wide[k];
      __syncwarp();
    }
  }

  /// Replaces samples before `begin` and from `end` on.
  __device__ void outside(int begin, int end, unsigned neutral) const {
    if (begin <= 0 && end >= 2 * n) return;
    for (int i = threadIdx.x % 32; i < n; i += 32) {
      const unsigned inside = inside_mask<std::uint16_t>(2 * i - begin, end - begin);
      if (inside != ~0u) words[i] = (words[i] & inside) | (neutral & ~inside);
    }
    __syncwarp();
  }
};

/// Words of a segment with `samples` results, and of the memory for it.
CUDASCAN_HD constexpr int segment_words(int samples, int window, int next) {
  return (samples + window + next) / 2 + 1;
}
constexpr int memory_words(int samples, int window, int next) {
  // Rows whose distance is odd are in different banks when they are read side by side.
  return (segment_words(samples, window, next) + std::max(window, next) / 2 + 2) | 1;
}

/// Reads the samples from column x on; those outside the row are anything.
__device__ void load(const Segment &segment, const WindowJob &job, const Page &page, int x, int y) {
  const bool turned = job.raw && page.inverted();
  const SmallPlane &in = turned ? job.inverted_in : job.in;
  const auto *const row = reinterpret_cast<const unsigned *>(in.row(y));
  const int lane = threadIdx.x % 32, words = (in.width + 1) / 2;
  for (int base = 0; base < segment.n; base += 32 * kAhead) {
    unsigned read[kAhead];
#pragma unroll
    for (int k = 0; k < kAhead; ++k)
      read[k] = row[min(max(x / 2 + base + 32 * k + lane, 0), words - 1)];
#pragma unroll
    for (int k = 0; k < kAhead; ++k)
      if (base + 32 * k + lane < segment.n)
        segment.words[base + 32 * k + lane] = upright_pair(read[k], turned, page.maximum);
  }
  __syncwarp();
}

/// Adds up the results of a row.
__device__ void add_up(SampleSums *to, const Segment &segment, int first, int count) {
  std::uint64_t sum = 0, squares = 0;
  for (int i = threadIdx.x % 32; i < count; i += 32) {
    const unsigned v = segment.words[(first + i) / 2] >> 16 * ((first + i) % 2) & 0xffff;
    sum += v;
    squares += std::uint64_t{v} * v;
  }
  sum = warp_sum(sum);
  squares = warp_sum(squares);
  if (threadIdx.x % 32 != 0) return;
  atomicAdd(reinterpret_cast<unsigned long long *>(&to->sum), sum);
  atomicAdd(reinterpret_cast<unsigned long long *>(&to->squares), squares);
}

/// Writes the results of all rows of the block.
/// @param first  sample of the segments that is the first result
__device__ void store_transposed(const WindowJob &job, const unsigned *memory, int stride,
                                 int first, int x0, int count, int y0) {
  const int pairs = blockDim.x / 64, log2_pairs = __ffs(pairs) - 1;  // of rows
  for (int i = threadIdx.x; i < count * pairs; i += blockDim.x) {
    const int x = i >> log2_pairs, y = 2 * (i & (pairs - 1));
    if (y0 + y >= job.in.height) continue;
    const int sample = first + x, shift = 16 * (sample % 2);
    const unsigned a = memory[y * stride + sample / 2] >> shift & 0xffff;
    const unsigned b = memory[(y + 1) * stride + sample / 2] >> shift & 0xffff;
    reinterpret_cast<unsigned *>(job.out.row(x0 + x))[(y0 + y) / 2] = a | b << 16;
  }
}

__global__ void __launch_bounds__(32 * kMostWarps)
    window_kernel(const __grid_constant__ WindowJobs jobs, int samples, int stride) {
  let_next_kernel_start();
  wait_for_kernels_before();
  if (jobs.page.numbers->blank) return;
  const WindowJob &job = jobs.job[blockIdx.z];
  auto *const memory = reinterpret_cast<unsigned *>(dynamic_shared_memory());
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int x0 = blockIdx.x * samples, y0 = blockIdx.y * (blockDim.x / 32);
  if (x0 >= job.in.width || y0 >= job.in.height) return;
  const int count = min(samples, job.in.width - x0);
  // Rows after the last one repeat it: their results are not written.
  const int y = min(y0 + warp, job.in.height - 1);

  const int window = job.window.samples(), next = job.next.samples();
  if (window <= job.above) return;
  const int before = window / 2 + next / 2, lead = before + before % 2;  // even, as x0 is
  const Segment segment{memory + warp * stride, segment_words(count, window, next)};
  load(segment, job, jobs.page, x0 - lead, y);
  segment.outside(lead - x0, lead - x0 + job.in.width, job.window.largest ? 0 : ~0u);
  segment.widen(job.window.largest, window);
  if (next > 1) {
    // The extremum around x is now where the window begins.
    const int zero = lead - x0 - window / 2;
    segment.outside(zero, zero + job.in.width, job.next.largest ? 0 : ~0u);
    segment.widen(job.next.largest, next);
  }
  const int first = lead - before;
  if (job.sums && y0 + warp < job.in.height) add_up(job.sums, segment, first, count);
  if (jobs.transposed) {
    __syncthreads();
    return store_transposed(job, memory, stride, first, x0, count, y0);
  }
  if (y0 + warp >= job.in.height) return;
  auto *const to = reinterpret_cast<unsigned *>(job.out.row(y));
  for (int i = lane; 2 * i < count; i += 32) to[x0 / 2 + i] = segment.pair(first + 2 * i);
}

}  // namespace

void queue_windows(Cuda &cuda, const WindowJobs &jobs, int most, int most_next) {
  int width = 0, height = 0;
  for (int i = 0; i < jobs.n; ++i) {
    width = std::max(width, jobs.job[i].in.width);
    height = std::max(height, jobs.job[i].in.height);
  }
  constexpr int samples = 256;
  const int stride = memory_words(std::min(samples, width + width % 2), most, most_next);
  const auto bytes = [&](int rows) { return rows * stride * static_cast<int>(sizeof(unsigned)); };
  int rows = kMostWarps;
  while (rows > 2 && bytes(rows) > cuda.most_shared_memory()) rows /= 2;
  LaunchShape shape{dim3(divide_up(width, samples), divide_up(height, rows), jobs.n),
                    static_cast<unsigned>(32 * rows), bytes(rows)};
  shape.overlap = cuda.code_architecture() >= 90;
  launch(cuda, window_kernel, shape, jobs, samples, stride);
}

}  // namespace cudascan::binarize
