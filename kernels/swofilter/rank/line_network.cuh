// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Directional medians of short lines by networks of minima and maxima (network.cuh). A thread
/// sorts the four lines through its pixel two at a time: a register has a sample of the row and one
/// of the column, another one of each diagonal.
///
/// Lines that are shorter than the network, or clipped, are filled up: floor(m / 2) of m missing
/// samples become the lowest and the others the highest, so number floor(n / 2) of the n samples of
/// the line becomes the middle one of all.
#pragma once
#include "kernels/swofilter/rank/line_reach.cuh"
#include "kernels/swofilter/rank/network.cuh"

namespace cudascan::swo {

/// Result pixels of a block, and its threads.
constexpr int kLineTileWidth = 64, kLineTileHeight = 32, kLineNetworkThreads = 256;

template <typename T>
struct LineNetworkJob {
  Source<T> in;
  Plane<T> out;
  LineReach reach;
};

/// The middle one of k samples, for both halves of registers.
template <int k>
__device__ __forceinline__ unsigned middle_of(const unsigned (&v)[k]) {
  constexpr int kHalf = k / 2;
  unsigned a[kHalf], b[kHalf], last[] = {v[k - 1]};
#pragma unroll
  for (int i = 0; i < kHalf; ++i) a[i] = v[i], b[i] = v[kHalf + i];
  sort(a);
  sort(b);
  return Candidates<0, kHalf, k>{}.with(a).with(b).with(last).v[0];
}

/// Fills up a line with r positions on each side of the pixel.
template <int r>
class LineFilling {
 public:
  LineFilling() = default;
  __device__ __forceinline__ explicit LineFilling(const LineSides &sides) : sides_(sides) {
    // Missing samples alternate on both sides, the highest one first.
    const int missing = r - sides.before;
    left_ = sides.before % 2 ? 0 : 0xffff;
    right_ = (missing + sides.after) % 2 ? 0 : 0xffff;
  }
  /// The sample at position i, or what replaces it.
  __device__ __forceinline__ unsigned operator()(int i, unsigned sample) const {
    const unsigned odd = i % 2 == 0 ? 0xffff : 0;
    if (i < 0) return i < -sides_.before ? left_ ^ odd : sample;
    return i > sides_.after ? right_ ^ odd : sample;
  }

 private:
  LineSides sides_;
  unsigned left_, right_;  // at odd positions
};

/// @tparam r  the reach of the longest line, or more
template <typename T, int r>
__global__ void __launch_bounds__(kLineNetworkThreads)
    line_network_kernel(const __grid_constant__ LineNetworkJob<T> job) {
  constexpr int kWidth = kLineTileWidth + 2 * r, kHeight = kLineTileHeight + 2 * r, k = 2 * r + 1;
  __shared__ std::uint16_t tile[kHeight][kWidth];
  const int x0 = blockIdx.x * kLineTileWidth, y0 = blockIdx.y * kLineTileHeight;
  const bool inside = job.in.holds(x0, y0, r, r) &&
                      job.in.holds(x0 + kLineTileWidth - 1, y0 + kLineTileHeight - 1, r, r);
  for (int i = threadIdx.x; i < kWidth * kHeight; i += kLineNetworkThreads) {
    const int x = x0 - r + i % kWidth, y = y0 - r + i / kWidth;
    tile[i / kWidth][i % kWidth] =
        static_cast<std::uint16_t>(inside ? job.in.plane.row(y)[x] : sample_or_zero(job.in, x, y));
  }
  __syncthreads();
  const int x = threadIdx.x % kLineTileWidth;
  if (x0 + x >= job.out.width) return;
  const LineReach &reach = job.reach;
  const bool whole =
      reach.row == r && reach.column == r && (inside || job.in.border != SwoFilterBorder::clip);
#pragma unroll 1
  for (int y = threadIdx.x / kLineTileWidth; y < kLineTileHeight;
       y += kLineNetworkThreads / kLineTileWidth) {
    if (y0 + y >= job.out.height) return;
    const auto sample = [&](int dx, int dy) -> unsigned { return tile[y + r + dy][x + r + dx]; };
    unsigned straight[k], oblique[k];  // rows and columns; falling and rising diagonals
    if (whole) {
#pragma unroll
      for (int i = -r; i <= r; ++i) {
        straight[i + r] = sample(i, 0) | sample(0, i) << 16;
        oblique[i + r] = sample(i, i) | sample(-i, i) << 16;
      }
    } else {
      LineFilling<r> fill[kLines];
#pragma unroll
      for (int line = 0; line < kLines; ++line)
        fill[line] = LineFilling<r>(LineSides(job.in, reach, line, x0 + x, y0 + y));
#pragma unroll
      for (int i = -r; i <= r; ++i) {
        straight[i + r] = fill[0](i, sample(i, 0)) | fill[1](i, sample(0, i)) << 16;
        oblique[i + r] = fill[2](i, sample(i, i)) | fill[3](i, sample(-i, i)) << 16;
      }
    }
    const unsigned a = middle_of(straight), b = middle_of(oblique);
    const unsigned low = __vminu2(a, b), high = __vmaxu2(a, b);
    const unsigned smallest = min(low & 0xffff, low >> 16),
                   largest = max(high & 0xffff, high >> 16);
    job.out.row(y0 + y)[x0 + x] = static_cast<T>(max(smallest, min(largest, sample(0, 0))));
  }
}

}  // namespace cudascan::swo
