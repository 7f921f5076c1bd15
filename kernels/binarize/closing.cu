// SPDX-License-Identifier: LGPL-2.1-or-later
// A block of threads closes two tiles in shared memory, one below the other, or finds their
// details. Each word holds a sample of both tiles, so neighbours are in words side by side in both
// directions.
#include "kernels/binarize/closing.cuh"

#include "kernels/base/launch.cuh"
#include "kernels/base/warp_sums.cuh"

namespace cudascan::binarize {
namespace {

constexpr int kThreads = 384;
constexpr int kTile = 32;                       // results along a side of a tile
constexpr int kRadius = kMostSmallClosing / 2;  // of the largest window
constexpr int kReach = 2 * kRadius;
constexpr int kClosed = kTile + 2 * kRadius;  // maxima along a side
constexpr int kSide = kTile + 2 * kReach;
constexpr int kStride = kSide | 1;  // odd, so that rows and columns are free of bank conflicts
constexpr int kEach = 8;            // results of a thread, one after the other
static_assert(kFirstClosing == kMostSmallClosing && kDetailClosing == 3);

using TileWords = unsigned[kSide * kStride];

/// Along a row or a column.
enum Direction { kAlongRows, kDownColumns };

/// Extrema of windows along some lines; all threads of the block call it.
/// @param from  the first word of the first window
template <bool largest, int window, Direction direction, int lines, int results>
__device__ void slide(const unsigned *from, unsigned *to) {
  static_assert(results >= kEach);
  constexpr int kLine = direction == kAlongRows ? kStride : 1;
  constexpr int kStep = direction == kAlongRows ? 1 : kStride;
  constexpr int kParts = (results + kEach - 1) / kEach, kRead = kEach + window - 1;
  const auto extreme = [](unsigned a, unsigned b) {
    return largest ? __vmaxu2(a, b) : __vminu2(a, b);
  };
  for (int i = threadIdx.x; i < lines * kParts; i += kThreads) {
    // Parts at the end overlap.
    const int at = i % lines * kLine + min(i / lines * kEach, results - kEach) * kStep;
    unsigned words[kRead];
#pragma unroll
    for (int k = 0; k < kRead; ++k) words[k] = from[at + k * kStep];
    int length = 1;
#pragma unroll
    for (int doubled = 2; doubled <= window; doubled *= 2) {
#pragma unroll
      for (int k = 0; k + length < kRead; ++k) words[k] = extreme(words[k], words[k + length]);
      length = doubled;
    }
    if (length < window) {
#pragma unroll
      for (int k = 0; k < kEach; ++k) words[k] = extreme(words[k], words[k + window - length]);
    }
#pragma unroll
    for (int k = 0; k < kEach; ++k) to[at + k * kStep] = words[k];
  }
  __syncthreads();
}

/// Where the tiles of a block are.
struct Tiles {
  int x0 = blockIdx.x * kTile, y0 = blockIdx.y * 2 * kTile;
  int width, height;  ///< of the plane

  __device__ bool has(int x, int y) const { return x >= 0 && x < width && y >= 0 && y < height; }
  /// Erosions leave out what is outside of the plane: it becomes the largest.
  /// @param around  samples of `words` around the tiles
  template <int around>
  __device__ void mask_outside(unsigned *words) const {
    constexpr int kWidth = kTile + 2 * around;
    if (has(x0 - around, y0 - around) && has(x0 + kTile + around - 1, y0 + 2 * kTile + around - 1))
      return;
    for (int i = threadIdx.x; i < kWidth * kWidth; i += kThreads) {
      const int x = i % kWidth, y = i / kWidth;
      unsigned &word = words[y * kStride + x];
      if (!has(x0 + x - around, y0 + y - around)) word |= 0x0000ffff;
      if (!has(x0 + x - around, y0 + kTile + y - around)) word |= 0xffff0000;
    }
    __syncthreads();
  }
  /// Calls f(x, y, sample) for the samples of the tiles; a warp has a row.
  template <typename F>
  __device__ void for_results(const unsigned *words, const F &f) const {
    static_assert(kTile == 32);
    const int lane = threadIdx.x % 32, x = x0 + lane;
    if (x >= width) return;
    for (int row = threadIdx.x / 32; row < kTile; row += kThreads / 32) {
      const int y = y0 + row;
      const unsigned word = words[row * kStride + lane];
      if (y < height) f(x, y, word & 0xffff);
      if (y + kTile < height) f(x, y + kTile, word >> 16);
    }
  }
};

/// Reads the tiles and what is around them, repeating the edges of the plane: so maxima need not
/// leave out what is outside.
__device__ void load(const SmallClosing &job, const Tiles &tiles, bool inverted, unsigned *words) {
  const SmallPlane &in = inverted ? job.quarter.low : job.quarter.top;
  static_assert(kSide <= 64);
  const int lane = threadIdx.x % 32, last = tiles.height - 1;
  const int second = min(lane + 32, kSide - 1);  // column
  const auto column = [&](int i) { return min(max(tiles.x0 - kReach + i, 0), tiles.width - 1); };
  const int x = column(lane), second_x = column(second);
#pragma unroll
  for (int row = threadIdx.x / 32; row < kSide; row += kThreads / 32) {
    const int y = tiles.y0 - kReach + row;
    const std::uint16_t *const upper = in.row(min(max(y, 0), last));
    const std::uint16_t *const lower = in.row(min(max(y + kTile, 0), last));
    const auto pair = [&](int i) {
      return upright_pair(upper[i] | unsigned{lower[i]} << 16, inverted, job.page.maximum);
    };
    words[row * kStride + lane] = pair(x);
    words[row * kStride + second] = pair(second_x);
  }
  __syncthreads();
}

__device__ void add_up(SampleSums &sums, const Tiles &tiles, const unsigned *words) {
  __shared__ unsigned long long of_block[2];
  if (threadIdx.x < 2) of_block[threadIdx.x] = 0;
  std::uint32_t sum = 0;
  std::uint64_t squares = 0;
  tiles.for_results(words, [&](int, int, unsigned v) {
    sum += v;
    squares += std::uint64_t{v} * v;
  });
  const std::uint64_t all = warp_sum(std::uint64_t{sum});
  squares = warp_sum(squares);
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    atomicAdd(&of_block[0], static_cast<unsigned long long>(all));
    atomicAdd(&of_block[1], static_cast<unsigned long long>(squares));
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(reinterpret_cast<unsigned long long *>(&sums.sum), of_block[0]);
    atomicAdd(reinterpret_cast<unsigned long long *>(&sums.squares), of_block[1]);
  }
}

template <int window>
__device__ void close(const SmallClosing &job, const Tiles &tiles, unsigned *a, unsigned *b) {
  // Smaller windows use less of what is around the tiles.
  constexpr int kSkip = kRadius - window / 2;
  slide<true, window, kAlongRows, kSide, kClosed>(a + kSkip, b);
  slide<true, window, kDownColumns, kClosed, kClosed>(b + kSkip * kStride, a);
  tiles.mask_outside<kRadius>(a);
  slide<false, window, kDownColumns, kClosed, kTile>(a + kSkip * kStride, b);
  add_up(job.page.numbers->paper[job.kind], tiles, b + kRadius);
  slide<false, window, kAlongRows, kTile, kTile>(b + kSkip, a);
  tiles.for_results(
      a, [&](int x, int y, unsigned v) { job.paper.row(y)[x] = static_cast<std::uint16_t>(v); });
}

/// Stores the details.
__device__ void store_details(const SmallClosing &job, const Tiles &tiles, bool inverted,
                              unsigned *a, unsigned *b) {
  constexpr int kWindow = kDetailClosing, kAround = kWindow / 2;
  constexpr int kMaxima = kTile + 2 * kAround, kRead = kTile + 4 * kAround;
  constexpr int kFirst = kReach - 2 * kAround;
  slide<true, kWindow, kAlongRows, kRead, kMaxima>(a + kFirst * (kStride + 1), b);
  slide<true, kWindow, kDownColumns, kMaxima, kMaxima>(b, a);
  tiles.mask_outside<kAround>(a);
  slide<false, kWindow, kAlongRows, kMaxima, kTile>(a, b);
  slide<false, kWindow, kDownColumns, kTile, kTile>(b, a);
  const SmallPlane &low = inverted ? job.quarter.top : job.quarter.low;
  tiles.for_results(a, [&](int x, int y, unsigned closed) {
    const unsigned sample = upright(low.row(y)[x], inverted, job.page.maximum);
    job.details.row(y)[x] = static_cast<std::uint16_t>(closed - min(closed, sample));
  });
}

__global__ void __launch_bounds__(kThreads) small_closing_kernel(const SmallClosing job) {
  let_next_kernel_start();
  wait_for_kernels_before();
  const int size = job.size ? *job.size : kFirstClosing;
  if (job.page.numbers->blank || size > kMostSmallClosing) return;
  __shared__ TileWords a, b;
  Tiles tiles;
  tiles.width = job.paper.width, tiles.height = job.paper.height;
  const bool inverted = job.page.inverted();
  load(job, tiles, inverted, a);
  if (blockIdx.z == 1) return store_details(job, tiles, inverted, a, b);
  switch (size) {
    case 5:
      return close<5>(job, tiles, a, b);
    case 7:
      return close<7>(job, tiles, a, b);
    case 9:
      return close<9>(job, tiles, a, b);
    case 11:
      return close<11>(job, tiles, a, b);
    case 13:
      return close<13>(job, tiles, a, b);
    default:
      return close<15>(job, tiles, a, b);
  }
}

}  // namespace

void queue_small_closing(Cuda &cuda, const SmallClosing &job) {
  const SmallPlane &plane = job.paper;
  LaunchShape shape{dim3(divide_up(plane.width, kTile), divide_up(plane.height, 2 * kTile),
                         job.details.data ? 2 : 1),
                    kThreads};
  shape.overlap = cuda.code_architecture() >= 90;
  launch(cuda, small_closing_kernel, shape, job);
}

}  // namespace cudascan::binarize
