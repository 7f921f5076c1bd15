// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/nick/naive.cuh"

#include <algorithm>

#include "kernels/base/launch.cuh"
#include "kernels/nick/naive.h"

namespace cudascan::nick {
namespace {

constexpr int kBlock = 16;     // side of a block of threads in pixels
constexpr int kMaxBlock = 32;  // largest side of shared_kernel

/// Everything that is the same for all threads of a launch.
template <typename T, typename Out>
struct NaiveJob {
  Plane<const T> in;
  Plane<Out> out;
  int rx, ry;
  Formula formula;
  NickOutput output;
  Out black, white;
  const WolfStatistics *wolf;
  unsigned long long *black_count;

  /// Decides a pixel from the sums of its window; all threads of the block call it.
  __device__ void finish(bool inside, int x, int y, const WindowSums &w) const {
    bool is_black = false;
    if (inside) {
      Formula f = formula;
      if (wolf) {
        f.busiest = wolf->busiest;
        f.minimum = wolf->minimum;
      }
      const Out value = result(in.row(y)[x], w, f, output, black, white);
      out.row(y)[x] = value;
      is_black = value == 0;
    }
    if (black_count) {
      const int n = __syncthreads_count(is_black);
      if (threadIdx.x == 0 && threadIdx.y == 0) atomicAdd(black_count, static_cast<unsigned>(n));
    }
  }
};

/// Reads all pixels from device memory.
template <typename T, typename Out>
__global__ void global_kernel(const __grid_constant__ NaiveJob<T, Out> job) {
  const int x = blockIdx.x * kBlock + threadIdx.x, y = blockIdx.y * kBlock + threadIdx.y;
  const bool inside = x < job.in.width && y < job.in.height;
  WindowSums w{0, 0, 1};
  if (inside) w = sum_window(job.in, x, y, job.rx, job.ry);
  job.finish(inside, x, y, w);
}

/// Reads pixels of the block's tile from shared memory, the others from device memory.
template <typename T, typename Out>
__global__ void global_shared_kernel(const __grid_constant__ NaiveJob<T, Out> job) {
  __shared__ T tile[kBlock][kBlock];
  const int tile_x = blockIdx.x * kBlock, tile_y = blockIdx.y * kBlock;
  const int x = tile_x + threadIdx.x, y = tile_y + threadIdx.y;
  const bool inside = x < job.in.width && y < job.in.height;
  tile[threadIdx.y][threadIdx.x] = inside ? job.in.row(y)[x] : T{0};
  __syncthreads();
  WindowSums w{0, 0, 1};
  if (inside) {
    const int x0 = max(x - job.rx, 0), x1 = min(x + job.rx, job.in.width - 1);
    const int y0 = max(y - job.ry, 0), y1 = min(y + job.ry, job.in.height - 1);
    w.n = (x1 - x0 + 1) * (y1 - y0 + 1);
    for (int v = y0; v <= y1; ++v)
      for (int u = x0; u <= x1; ++u) {
        const bool in_tile =
            u >= tile_x && u < tile_x + kBlock && v >= tile_y && v < tile_y + kBlock;
        const std::uint64_t p = in_tile ? tile[v - tile_y][u - tile_x] : job.in.row(v)[u];
        w.sum += p;
        w.squares += p * p;
      }
  }
  job.finish(inside, x, y, w);
}

/// Reads all pixels from shared memory; every thread loads one, the inner ones decide.
template <typename T, typename Out>
__global__ void __launch_bounds__(kMaxBlock *kMaxBlock)
    shared_kernel(const __grid_constant__ NaiveJob<T, Out> job) {
  __shared__ T tile[kMaxBlock][kMaxBlock];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int x = blockIdx.x * kBlock + tx, y = blockIdx.y * kBlock + ty;
  const int from_x = x - job.rx, from_y = y - job.ry;
  const bool loads = from_x >= 0 && from_x < job.in.width && from_y >= 0 && from_y < job.in.height;
  tile[ty][tx] = loads ? job.in.row(from_y)[from_x] : T{0};
  __syncthreads();
  const bool inside = tx < kBlock && ty < kBlock && x < job.in.width && y < job.in.height;
  WindowSums w{0, 0, 1};
  if (inside) {
    // Pixels outside the image are 0 and add nothing; they are just not counted.
    const int columns = min(x + job.rx, job.in.width - 1) - max(x - job.rx, 0) + 1;
    const int rows = min(y + job.ry, job.in.height - 1) - max(y - job.ry, 0) + 1;
    w.n = columns * rows;
    for (int i = 0; i <= 2 * job.ry; ++i)
      for (int j = 0; j <= 2 * job.rx; ++j) {
        const std::uint64_t p = tile[ty + i][tx + j];
        w.sum += p;
        w.squares += p * p;
      }
  }
  job.finish(inside, x, y, w);
}

}  // namespace

template <typename T, typename Out>
void run_naive(Cuda &cuda, Plane<const T> in, Plane<Out> out, const NickParams &p,
               const WolfStatistics *wolf, unsigned long long *black_count) {
  const NaiveJob<T, Out> job{in,
                             out,
                             window_width(p) / 2,
                             window_height(p) / 2,
                             make_formula(p, in.maximum),
                             p.output,
                             p.invert ? out.maximum : Out{0},
                             p.invert ? Out{0} : out.maximum,
                             wolf,
                             black_count};
  const dim3 grid((in.width + kBlock - 1) / kBlock, (in.height + kBlock - 1) / kBlock);
  const dim3 block(kBlock, kBlock);
  if (p.algorithm == NickAlgorithm::shared) {
    const dim3 all(kBlock + 2 * job.rx, kBlock + 2 * job.ry);
    launch(cuda, shared_kernel<T, Out>, {grid, all}, job);
  } else if (p.algorithm == NickAlgorithm::global_shared) {
    launch(cuda, global_shared_kernel<T, Out>, {grid, block}, job);
  } else {
    launch(cuda, global_kernel<T, Out>, {grid, block}, job);
  }
}

template void run_naive(Cuda &, Plane<const std::uint8_t>, Plane<std::uint8_t>, const NickParams &,
                        const WolfStatistics *, unsigned long long *);
template void run_naive(Cuda &, Plane<const std::uint16_t>, Plane<std::uint16_t>,
                        const NickParams &, const WolfStatistics *, unsigned long long *);
template void run_naive(Cuda &, Plane<const std::uint16_t>, Plane<std::uint8_t>, const NickParams &,
                        const WolfStatistics *, unsigned long long *);

}  // namespace cudascan::nick
