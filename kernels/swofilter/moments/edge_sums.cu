// SPDX-License-Identifier: LGPL-2.1-or-later
// Means and standard deviations from the edges of windows; see sums.cuh.
#include <cstdint>
#include <type_traits>

#include "kernels/base/launch.cuh"
#include "kernels/base/warp_sums.cuh"
#include "kernels/swofilter/moments/sums.cuh"
#include "kernels/windowsums/rounding.cuh"

namespace cudascan::swo {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;
/// Pixels of a thread at a time.
constexpr int kPixels = 4;

__device__ std::uint64_t warp_scan(std::uint64_t v) {
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const std::uint64_t below = __shfl_up_sync(kWholeWarp, v, distance);
    if (static_cast<int>(threadIdx.x % 32) >= distance) v += below;
  }
  return v;
}
using cudascan::warp_scan;

/// Sums along a row of changes, for a block.
template <typename E>
class RunningSums {
 public:
  struct Shared {
    E of_warps[2][kWarps];
  };
  __device__ explicit RunningSums(Shared &shared) : shared_(shared) {}

  /// Changes become sums. A barrier is in it.
  __device__ void next(E (&v)[kPixels]) {
    for (int i = 1; i < kPixels; ++i) v[i] += v[i - 1];
    const E up_to = warp_scan(v[kPixels - 1]);
    const int warp = threadIdx.x / 32;
    E *const of_warps = shared_.of_warps[turn_];
    turn_ ^= 1;
    if (threadIdx.x % 32 == 31) of_warps[warp] = up_to;
    __syncthreads();
    E base = before_ + up_to - v[kPixels - 1];
#pragma unroll
    for (int i = 0; i < kWarps; ++i) {
      if (i < warp) base += of_warps[i];
      before_ += of_warps[i];
    }
    for (E &sum : v) sum += base;
  }

 private:
  Shared &shared_;
  E before_ = 0;  // the sum at the end of what the block has done
  int turn_ = 0;
};

/// The number of a window's samples at each column of a row, with clip.
class RowCounts {
 public:
  /// Cells of columns that come before a column of the window, in the rows inside the image.
  struct Shared {
    unsigned before[256];
  };

  template <typename T>
  __device__ RowCounts(Shared &shared, const ShapeMomentJob<T> &job, int y)
      : shared_(shared),
        width_(job.out.width),
        rx_(job.cells.rx),
        all_(job.cells.count),
        clips_(job.in.border == SwoFilterBorder::clip),
        cut_(y < job.cells.ry || y + job.cells.ry >= job.out.height) {
    if (!clips_) return;
    shared.before[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < job.cells.n_runs; i += kThreads) {
      const Run run = job.cells.runs[i];
      if (y + run.y < 0 || y + run.y >= job.out.height) continue;
      atomicAdd(&shared.before[run.first + rx_], 1u);
      atomicAdd(&shared.before[run.last + rx_ + 1], ~0u);
    }
    __syncthreads();
    if (threadIdx.x < 32) {
      scan_columns<true>();   // cells of a column
      scan_columns<false>();  // cells of the columns before
    }
    __syncthreads();
  }

  __device__ unsigned operator()(int x) const {
    if (!clips_ || (!cut_ && x >= rx_ && x + rx_ < width_)) return all_;
    return shared_.before[min(2 * rx_, width_ - 1 - x + rx_) + 1] - shared_.before[max(0, rx_ - x)];
  }

 private:
  /// Replaces each number by the sum of it and those before, or only of those before.
  template <bool with_itself>
  __device__ void scan_columns() const {
    constexpr int kEach = 8;
    unsigned *const own = shared_.before + threadIdx.x * kEach;
    unsigned sum = 0;
    for (int i = 0; i < kEach; ++i) sum += own[i];
    unsigned up_to = warp_scan(sum) - sum;
    for (int i = 0; i < kEach; ++i) {
      const unsigned v = own[i];
      own[i] = with_itself ? up_to + v : up_to;
      up_to += v;
    }
    __syncwarp();
  }

  Shared &shared_;
  const int width_, rx_;
  const unsigned all_;
  const bool clips_, cut_;
};

template <typename T, bool deviation>
__device__ unsigned moment(unsigned sum, ShapeSquare<T> squares, unsigned n) {
  if constexpr (deviation)
    return windowsums::rounded_deviation(n * std::uint64_t{squares} - std::uint64_t{sum} * sum, n);
  else
    return windowsums::rounded_mean(sum, n);
}

template <typename E>
__device__ void load_changes(const E *from, E (&to)[kPixels]) {
  constexpr int kQuads = kPixels * sizeof(E) / 16;
  uint4 quads[kQuads];
#pragma unroll
  for (int i = 0; i < kQuads; ++i) quads[i] = reinterpret_cast<const uint4 *>(from)[i];
#pragma unroll
  for (int i = 0; i < kQuads; ++i) {
    if constexpr (sizeof(E) == 4) {
      to[0] = quads[i].x, to[1] = quads[i].y, to[2] = quads[i].z, to[3] = quads[i].w;
    } else {
      to[2 * i] = std::uint64_t{quads[i].y} << 32 | quads[i].x;
      to[2 * i + 1] = std::uint64_t{quads[i].w} << 32 | quads[i].z;
    }
  }
}

/// A block computes a row.
template <typename T, bool deviation>
__global__ void __launch_bounds__(kThreads)
    edge_sums_kernel(const __grid_constant__ ShapeMomentJob<T> job) {
  using Square = ShapeSquare<T>;
  __shared__ typename RunningSums<std::uint32_t>::Shared of_sums;
  __shared__ typename RunningSums<Square>::Shared of_squares;
  __shared__ RowCounts::Shared of_counts;
  const int y = blockIdx.x, width = job.out.width;
  const RowCounts counts(of_counts, job, y);
  RunningSums<std::uint32_t> sums(of_sums);
  RunningSums<Square> squares(of_squares);
  for (int begin = 0; begin < job.sums.start + width; begin += kThreads * kPixels) {
    const int at = begin + threadIdx.x * kPixels;
    std::uint32_t sum[kPixels] = {};
    Square square[kPixels] = {};
    if (at < job.sums.stride) load_changes(job.sums.row(y) + at, sum);
    sums.next(sum);
    if constexpr (deviation) {
      if (at < job.sums.stride) load_changes(job.squares.row(y) + at, square);
      squares.next(square);
    }
    for (int i = 0; i < kPixels; ++i) {
      const int x = at + i - job.sums.start;
      if (x < 0 || x >= width) continue;
      const unsigned n = counts(x);
      const unsigned level =
          n > 0 ? moment<T, deviation>(sum[i], square[i], n) : job.in.plane.row(y)[x] >> job.shift;
      job.out.row(y)[x] = static_cast<T>(level << job.shift);
    }
  }
}

}  // namespace

template <typename T>
void queue_edge_sums(Cuda &cuda, const ShapeMomentJob<T> &job, bool deviation) {
  launch(cuda, deviation ? edge_sums_kernel<T, true> : edge_sums_kernel<T, false>,
         {job.out.height, kThreads}, job);
}

template void queue_edge_sums(Cuda &, const ShapeMomentJob<std::uint8_t> &, bool);
template void queue_edge_sums(Cuda &, const ShapeMomentJob<std::uint16_t> &, bool);

}  // namespace cudascan::swo
