// SPDX-License-Identifier: LGPL-2.1-or-later
// Erosions are dilations of complements.
#include "kernels/swofilter/recursive/recursive.h"

#include <algorithm>

#include "kernels/base/cuda_check.cuh"
#include "kernels/base/launch.cuh"
#include "kernels/base/warp_sums.cuh"
#include "kernels/swofilter/recursive/form.h"

namespace cudascan::swo {
namespace {

constexpr int kThreads = 256, kWalkThreads = 1024;
constexpr int kEach = 8;        // samples of a row that a lane processes at a time
constexpr int kMostRuns = 496;  // see Mask::runs()

template <typename T>
struct RecursiveJob {
  Plane<const T> in;
  Plane<T> out;
  bool complement;
  T maximum, outside;  ///< `outside` is 0 if there are no samples
  T *sums;             ///< q of the form, row by row
  int pitch;
  T *last;  ///< results in the last column

  __device__ T complemented(T v) const { return complement ? static_cast<T>(maximum - v) : v; }
  __device__ T sum(int x, int y) const {
    return sums[std::size_t(y) * pitch + min(x, in.width - 1)];
  }
};

/// Inclusive maximum scan over the lanes of a warp.
__device__ unsigned largest_so_far(unsigned v) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2)
    v = max(v, __shfl_sync(kWholeWarp, v, max(lane - distance, 0)));
  return v;
}

/// Computes the sums (running maxima) of rows, one warp per row.
template <typename T>
__global__ void __launch_bounds__(kThreads)
    sum_rows_kernel(const __grid_constant__ RecursiveJob<T> job, bool sum_up) {
  const int y = blockIdx.x * (kThreads / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (y >= job.in.height) return;
  const T *const from = job.in.row(y);
  T *const to = job.sums + std::size_t(y) * job.pitch;
  unsigned before = 0;
  for (int begin = 0; begin < job.in.width; begin += 32 * kEach) {
    const int first = begin + lane * kEach;
    unsigned v[kEach];
#pragma unroll
    for (int k = 0; k < kEach; ++k)
      v[k] = first + k < job.in.width ? job.complemented(from[first + k]) : 0;
    if (sum_up) {
#pragma unroll
      for (int k = 1; k < kEach; ++k) v[k] = max(v[k], v[k - 1]);
      const unsigned so_far = max(before, largest_so_far(v[kEach - 1]));
      const unsigned left = __shfl_sync(kWholeWarp, so_far, max(lane - 1, 0));
#pragma unroll
      for (int k = 0; k < kEach; ++k) v[k] = max(v[k], lane > 0 ? left : before);
      before = __shfl_sync(kWholeWarp, so_far, 31);
    }
#pragma unroll
    for (int k = 0; k < kEach; ++k)
      if (first + k < job.in.width) to[first + k] = static_cast<T>(v[k]);
  }
}

/// The terms of a form at a pixel.
template <typename T>
__device__ unsigned terms_at(const RecursiveJob<T> &job, const RecursiveForm &form, int x, int y) {
  unsigned v = 0;
#pragma unroll
  for (int i = 0; i < RecursiveForm::kMostTerms; ++i) {
    const int k = form.terms[i];
    if (i < form.n_terms && y + k < job.in.height)
      v = max(v, unsigned{job.sum(x + form.reach[k], y + k)});
  }
  return v;
}
/// The result at a pixel of the first row.
template <typename T>
__device__ unsigned first_at(const RecursiveJob<T> &job, const RecursiveForm &form, int x) {
  unsigned v = job.outside;
  for (int k = 0; k < min(form.rows, job.in.height); ++k)
    if (form.reach[k] >= 0) v = max(v, unsigned{job.sum(x + form.reach[k], k)});
  return v;
}

/// One warp finds the results in the last column.
template <typename T>
__global__ void last_column_kernel(const __grid_constant__ RecursiveJob<T> job,
                                   const __grid_constant__ RecursiveForm form) {
  const int x = job.in.width - 1, height = job.in.height;
  unsigned before = first_at(job, form, x);
  for (int begin = 0; begin < height; begin += 32) {
    const int y = begin + threadIdx.x;
    const unsigned v = y < height ? terms_at(job, form, x, y) : 0;
    const unsigned so_far = max(before, largest_so_far(v));
    if (y < height) job.last[y] = static_cast<T>(so_far);
    before = __shfl_sync(kWholeWarp, so_far, 31);
  }
}

/// A thread for each line along which results depend on the one before.
template <typename T>
__global__ void __launch_bounds__(kThreads, 4)
    lines_kernel(const __grid_constant__ RecursiveJob<T> job,
                 const __grid_constant__ RecursiveForm form, int lines) {
  const int line = blockIdx.x * kThreads + threadIdx.x;
  if (line >= lines) return;
  const int width = job.in.width, height = job.in.height, step = max(form.step, 0);
  int x = line, y = 0;
  unsigned v;
  if (line < width) {
    v = first_at(job, form, x);
  } else {  // begins in another row, at the right edge
    y = (line - width) / step + 1;
    x = line - step * y;
    if (x < 0) return;
    v = max(unsigned{job.last[y - 1]}, terms_at(job, form, x, y));
  }
  job.out.row(y)[x] = job.complemented(static_cast<T>(v));
  // Loads all needed sums before waiting for them.
  constexpr int kRows = 8;
  while (y + 1 < height && x >= step) {
    unsigned terms[kRows];
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
      const int next_x = x - (k + 1) * step, next_y = y + k + 1;
      terms[k] = next_x >= 0 && next_y < height ? terms_at(job, form, next_x, next_y) : 0;
    }
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
      ++y;
      x -= step;
      if (y >= height || x < 0) return;
      v = max(form.step < 0 ? unsigned{job.outside} : v, terms[k]);
      job.out.row(y)[x] = job.complemented(static_cast<T>(v));
    }
  }
}

/// The cells of a window by rows; those left of the middle are separate.
struct RecursiveWindow {
  int runs, left_cells;
  Run run[kMostRuns];
  std::int8_t left[15];  ///< the nearest one first
};

/// A block processes the rows from top to bottom, for any window.
template <typename T>
__global__ void __launch_bounds__(kWalkThreads)
    walk_kernel(const __grid_constant__ RecursiveJob<T> job,
                const __grid_constant__ RecursiveWindow window) {
  __shared__ unsigned totals[kWalkThreads / 32];
  const int width = job.in.width, height = job.in.height, thread = threadIdx.x;
  // Results are kept unconverted in the output until the row is complete.
  const auto result = [&](int x, int y) { return job.complemented(job.out.row(y)[x]); };
  for (int y = 0; y < height; ++y) {
    T *const here = job.out.row(y);
    for (int x = thread; x < width; x += kWalkThreads) {
      unsigned v = 0;
      for (int i = 0; i < window.runs; ++i) {
        const Run run = window.run[i];
        const int row = y + run.y;
        const int first = x + run.first, last = x + run.last;
        if (row < 0 || row >= height || first < 0 || last >= width)
          v = max(v, unsigned{job.outside});
        if (row < 0 || row >= height) continue;
        for (int column = max(first, 0); column <= min(last, width - 1); ++column)
          v = max(v, unsigned{run.y < 0 ? result(column, row)
                                        : job.complemented(job.in.row(row)[column])});
      }
      here[x] = job.complemented(static_cast<T>(v));
    }
    __syncthreads();
    if (window.left_cells == 0) continue;
    const int nearest = -window.left[0];
    if (nearest == 1) {
      // Results grow along the row, so the other cells add nothing.
      unsigned before = job.outside;
      for (int begin = 0; begin < width; begin += kWalkThreads) {
        const int x = begin + thread, warp = thread / 32;
        const unsigned so_far = largest_so_far(x < width ? result(x, y) : 0);
        if (thread % 32 == 31) totals[warp] = so_far;
        __syncthreads();
        unsigned v = max(before, so_far);
        for (int w = 0; w < kWalkThreads / 32; ++w) {
          before = max(before, totals[w]);
          if (w < warp) v = max(v, totals[w]);
        }
        if (x < width) here[x] = job.complemented(static_cast<T>(v));
        __syncthreads();
      }
    } else {
      for (int begin = 0; begin < width; begin += nearest) {
        const int x = begin + thread;
        if (thread < nearest && x < width) {
          unsigned v = result(x, y);
          for (int i = 0; i < window.left_cells; ++i) {
            const int column = x + window.left[i];
            v = max(v, unsigned{column >= 0 ? result(column, y) : job.outside});
          }
          here[x] = job.complemented(static_cast<T>(v));
        }
        __syncthreads();
      }
    }
  }
}

RecursiveWindow window_of(const Mask &mask) {
  RecursiveWindow window{};
  for (Run run : mask.runs()) {
    if (run.y == 0 && run.first < 0) {
      if (run.last < 0) continue;
      run.first = 0;
    }
    window.run[window.runs++] = run;
  }
  for (int x = -1; x >= -mask.rx(); --x)
    if (mask.at(x + mask.rx(), mask.ry()) == Mask::on) {
      window.left[window.left_cells++] = static_cast<std::int8_t>(x);
      if (x == -1) break;  // the others add nothing
    }
  return window;
}

}  // namespace

template <typename T>
void recursive(Cuda &cuda, Plane<const T> in, Plane<T> out, const FilterJob &settings) {
  RecursiveJob<T> job{};
  job.in = in;
  job.out = out;
  job.complement = settings.op == SwoFilterOperator::recursive_erode;
  job.maximum = static_cast<T>(settings.maximum);
  if (settings.border == SwoFilterBorder::constant)
    job.outside =
        static_cast<T>(job.complement ? settings.maximum - settings.outside : settings.outside);
  const RecursiveForm form(settings.mask(), settings.border);
  if (!form.exists) {
    launch(cuda, walk_kernel<T>, {1, kWalkThreads}, job, window_of(settings.mask()));
    return;
  }
  job.pitch = (in.width + 127) / 128 * 128;
  job.sums =
      static_cast<T *>(cuda.scratch((std::size_t(job.pitch) * in.height + in.height) * sizeof(T)));
  job.last = job.sums + std::size_t(job.pitch) * in.height;
  launch(cuda, sum_rows_kernel<T>, {(in.height + kThreads / 32 - 1) / (kThreads / 32), kThreads},
         job, form.sums_up);
  if (form.step > 0) launch(cuda, last_column_kernel<T>, {1, 32}, job, form);
  const int lines = in.width + std::max(form.step, 0) * (in.height - 1);
  launch(cuda, lines_kernel<T>, {(lines + kThreads - 1) / kThreads, kThreads}, job, form, lines);
}
template void recursive(Cuda &, Plane<const std::uint8_t>, Plane<std::uint8_t>, const FilterJob &);
template void recursive(Cuda &, Plane<const std::uint16_t>, Plane<std::uint16_t>,
                        const FilterJob &);

}  // namespace cudascan::swo
