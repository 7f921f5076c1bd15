// SPDX-License-Identifier: LGPL-2.1-or-later
// A thread keeps the sums of four neighbouring columns over the rows of the window; a step down adds a
// row and takes one off. The sums of windows are differences of the prefix sums along the row, which the
// block makes for each row. So the cost of a pixel does not depend on the window, but for the rows that
// fill it at the top of a block, and for the columns beside it.
#include "kernels/swofilter/moments.h"

#include <type_traits>

#include "kernels/launch.cuh"
#include "kernels/swofilter/cells.cuh"

namespace cudascan::swo {
namespace {

/// What rounds S / N.
class Mean {
 public:
  __device__ explicit Mean(unsigned n) : n_(n), inverse_(1.0f / static_cast<float>(n)) {}

  /// The quotient in single precision is off by less than 1.
  __device__ unsigned operator()(unsigned sum) const {
    auto q = static_cast<unsigned>(static_cast<float>(sum) * inverse_);
    const auto rest = 2 * static_cast<int>(sum - q * n_);
    const auto n = static_cast<int>(n_);
    if (rest >= n) q += rest >= 3 * n ? 2 : 1;
    if (rest < -n) q -= rest < -3 * n ? 2 : 1;
    return q;
  }

 private:
  unsigned n_;
  float inverse_;
};

/// sqrt(N Q - S^2) / N, rounded; what is near a tie exactly. With up to 65025 samples of 16 bit
/// (2 d - 1) N is below 2^32, and 4 (N Q - S^2) below 2^64.
__device__ unsigned deviation(std::uint64_t sum, std::uint64_t squares, unsigned n) {
  const std::uint64_t variance = n * squares - sum * sum;
  const float about = __fsqrt_rn(static_cast<float>(variance)) / static_cast<float>(n) + 0.5f;
  auto d = static_cast<unsigned>(about);
  const float part = about - static_cast<float>(d);
  if (part > 0.05f && part < 0.95f) return d;
  const auto fits = [&](unsigned d) {
    const auto odd = std::uint64_t{2 * d - 1} * n;
    return odd * odd <= 4 * variance;
  };
  if (d > 0 && !fits(d)) --d;
  if (fits(d + 1)) ++d;
  return d;
}

// ---- Rectangles ----------------------------------------------------------------------------------

constexpr int kThreads = 256, kColumns = 4;

template <typename T>
struct WindowJob {
  Source<T> in;
  Plane<T> out;
  int rx, ry, shift;
  int beside;  // columns beside those that are written, at least rx + 1 on the left
  int rows;    // of a block
};

/// Sums of a column or a window; those of squares only where they are needed.
template <typename T, bool squares>
struct Sums {
  using Square = std::conditional_t<sizeof(T) == 1, std::uint32_t, std::uint64_t>;
  unsigned s = 0;
  Square q = 0;

  __device__ void add(unsigned v) {
    s += v;
    if constexpr (squares) q += Square{v} * v;
  }
  __device__ void take(unsigned v) {
    s -= v;
    if constexpr (squares) q -= Square{v} * v;
  }
  __device__ Sums &operator+=(const Sums &other) {
    s += other.s;
    if constexpr (squares) q += other.q;
    return *this;
  }
  __device__ Sums operator-(const Sums &other) const {
    Sums difference;
    difference.s = s - other.s;
    if constexpr (squares) difference.q = q - other.q;
    return difference;
  }
  __device__ Sums from_lane_below(int distance) const {
    Sums other;
    other.s = __shfl_up_sync(0xffffffff, s, distance);
    if constexpr (squares) other.q = __shfl_up_sync(0xffffffff, q, distance);
    return other;
  }
};

/// A thread's samples of a row, in levels; what is not there is 0.
template <typename T>
class Columns {
 public:
  __device__ Columns(const Source<T> &in, int shift, int x) : in_(in), shift_(shift), x_(x) {
    constexpr int kBytes = kColumns * sizeof(T);
    whole_ = x >= 0 && x + kColumns <= in.plane.width &&
             (reinterpret_cast<std::uintptr_t>(in.plane.data + x) | in.plane.stride) % kBytes == 0;
    if (whole_) return;
#pragma unroll
    for (int j = 0; j < kColumns; ++j) at_[j] = resolve(x + j, in.plane.width, in.border);
  }

  __device__ void read(int y, unsigned (&v)[kColumns]) const {
    const int row = resolve(y, in_.plane.height, in_.border);
    if (row < 0) {
#pragma unroll
      for (unsigned &sample : v) sample = nothing();
    } else if (whole_) {
      using Words = std::conditional_t<sizeof(T) == 1, uchar4, ushort4>;
      const auto words = *reinterpret_cast<const Words *>(in_.plane.row(row) + x_);
      v[0] = words.x >> shift_;
      v[1] = words.y >> shift_;
      v[2] = words.z >> shift_;
      v[3] = words.w >> shift_;
    } else {
#pragma unroll
      for (int j = 0; j < kColumns; ++j)
        v[j] = at_[j] < 0 ? nothing() : unsigned{in_.plane.row(row)[at_[j]]} >> shift_;
    }
  }

 private:
  __device__ unsigned nothing() const {
    return in_.border == SwoFilterBorder::constant ? in_.outside >> shift_ : 0;
  }

  const Source<T> &in_;
  int shift_, x_;
  int at_[kColumns] = {};
  bool whole_;
};

template <typename T, bool squares>
__global__ void __launch_bounds__(kThreads)
    window_kernel(const __grid_constant__ WindowJob<T> job) {
  using Sums = Sums<T, squares>;
  constexpr int kWarps = kThreads / 32;
  // Prefix sums of a row and those of the warps, of this row and the one before.
  __shared__ Sums prefix[2][kThreads * kColumns];
  __shared__ Sums totals[2][kWarps];
  let_next_kernel_start();
  wait_for_kernels_before();
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  const int width = job.in.plane.width, height = job.in.plane.height;
  const int written = kThreads * kColumns - 2 * job.beside;
  const int x0 = blockIdx.x * written - job.beside + t * kColumns;
  const int first = blockIdx.y * job.rows, last = min(first + job.rows, height);
  const Columns<T> columns(job.in, job.shift, x0);
  Sums sums[kColumns];
  unsigned v[kColumns];
#pragma unroll 4
  for (int y = first - job.ry; y < first + job.ry; ++y) {
    columns.read(y, v);
#pragma unroll
    for (int j = 0; j < kColumns; ++j) sums[j].add(v[j]);
  }
  const bool writes =
      t * kColumns >= job.beside && t * kColumns < job.beside + written && x0 < width;
  const bool clipped = job.in.border == SwoFilterBorder::clip;
  const auto extent = [&](int i, int r, int n) {
    return clipped ? min(i + r, n - 1) - max(i - r, 0) + 1 : 2 * r + 1;
  };
  for (int y = first; y < last; ++y) {
    columns.read(y + job.ry, v);
#pragma unroll
    for (int j = 0; j < kColumns; ++j) sums[j].add(v[j]);
    Sums own = sums[0];
#pragma unroll
    for (int j = 1; j < kColumns; ++j) own += sums[j];
    Sums below = own;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const Sums other = below.from_lane_below(distance);
      if (lane >= distance) below += other;
    }
    const int turn = y & 1;
    if (lane == 31) totals[turn][warp] = below;
    Sums running = below - own;  // of the columns of the warp before this thread's
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      running += sums[j];
      prefix[turn][j * kThreads + t] = running;
    }
    __syncthreads();
    if (writes) {
      const int rows = extent(y, job.ry, height);
      T result[kColumns];
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        const int right = t * kColumns + j + job.rx, left = right - 2 * job.rx - 1;
        Sums window = prefix[turn][right % kColumns * kThreads + right / kColumns] -
                      prefix[turn][left % kColumns * kThreads + left / kColumns];
        for (int w = left / (32 * kColumns); w < right / (32 * kColumns); ++w)
          window += totals[turn][w];
        const unsigned n = rows * extent(x0 + j, job.rx, width);
        unsigned level;
        if constexpr (squares)
          level = deviation(window.s, window.q, n);
        else
          level = Mean(n)(window.s);
        result[j] = static_cast<T>(level << job.shift);
      }
      T *const to = job.out.row(y) + x0;
      if (x0 + kColumns <= width && reinterpret_cast<std::uintptr_t>(to) % sizeof(result) == 0) {
        using Words = std::conditional_t<sizeof(T) == 1, uchar4, ushort4>;
        *reinterpret_cast<Words *>(to) = Words{result[0], result[1], result[2], result[3]};
      } else {
#pragma unroll
        for (int j = 0; j < kColumns; ++j)
          if (x0 + j < width) to[j] = result[j];
      }
    }
    columns.read(y - job.ry, v);
#pragma unroll
    for (int j = 0; j < kColumns; ++j) sums[j].take(v[j]);
  }
}

// ---- Other windows -------------------------------------------------------------------------------

template <typename T>
struct MaskJob {
  Source<T> in;
  Plane<T> out;
  int shift;
  Cells cells;
};

template <typename T, bool squares>
__global__ void __launch_bounds__(256) mask_moments_kernel(const __grid_constant__ MaskJob<T> job) {
  const Plane<const T> &in = job.in.plane;
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= in.width || y >= in.height) return;
  unsigned n = 0;
  Sums<T, squares> sums;
  job.in.visit_window(x, y, job.cells, [&](unsigned sample) {
    ++n;
    sums.add(sample >> job.shift);
  });
  unsigned level = in.row(y)[x] >> job.shift;
  if (n > 0) {
    if constexpr (squares)
      level = deviation(sums.s, sums.q, n);
    else
      level = Mean(n)(sums.s);
  }
  job.out.row(y)[x] = static_cast<T>(level << job.shift);
}

int divide_up(int x, int by) {
  return (x + by - 1) / by;
}

template <typename T, bool squares>
void queue(Cuda &cuda, Plane<const T> in, Plane<T> out, const Job &job) {
  const Source<T> source(in, job);
  const Mask &mask = job.mask();
  if (!mask.rectangle) {
    const dim3 blocks(divide_up(in.width, 32), divide_up(in.height, 8));
    return launch(mask_moments_kernel<T, squares>, {blocks, dim3(32, 8)}, cuda.stream(),
                  MaskJob<T>{source, out, job.shift, Cells(mask)});
  }
  // High windows want high blocks, as far as there are enough of them.
  const int beside = (mask.rx() + 1 + kColumns - 1) / kColumns * kColumns;
  const int strips = divide_up(in.width, kThreads * kColumns - 2 * beside);
  const int most = divide_up(in.height * strips, 2 * cuda.multiprocessors());
  const int rows = std::max(std::min(std::max(16, mask.height / 4), most), 8);
  const WindowJob<T> window{source, out, mask.rx(), mask.ry(), job.shift, beside, rows};
  launch(window_kernel<T, squares>,
         {dim3(strips, divide_up(in.height, rows)), kThreads, 0, cuda.code_architecture() >= 90},
         cuda.stream(), window);
}

}  // namespace

template <typename T>
void moments(Cuda &cuda, Plane<const T> in, Plane<T> out, const Job &job) {
  if (job.op == SwoFilterOperator::mean)
    queue<T, false>(cuda, in, out, job);
  else
    queue<T, true>(cuda, in, out, job);
}

template void moments(Cuda &, Plane<const std::uint8_t>, Plane<std::uint8_t>, const Job &);
template void moments(Cuda &, Plane<const std::uint16_t>, Plane<std::uint16_t>, const Job &);

}  // namespace cudascan::swo
