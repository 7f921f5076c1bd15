// SPDX-License-Identifier: LGPL-2.1-or-later
// With the terms of form.h, results are running maxima along the lines x + step y = constant, which
// stay in the last column once they reach it. As in a scan of blocks, a band of rows first finds
// the maxima of its own rows. From those of all bands above it, it gets the result of the row above
// it, and then it goes through its rows again.
#include <algorithm>

#include "kernels/base/launch.cuh"
#include "kernels/base/warp_sums.cuh"
#include "kernels/swofilter/recursive/parts.h"

namespace cudascan::swo {
namespace {

constexpr int kThreads = 256;
constexpr int kRowsAtOnce = 8;  // whose terms are loaded before the first is needed
constexpr int kLeastBandRows = 4 * kRowsAtOnce, kMostBands = 128;

template <typename T>
struct BandJob {
  Plane<const T> in;
  RecursiveTarget<T> target;
  T *sums;    ///< q of the form, row by row; its last sample is repeated to the end of the pitch
  T *maxima;  ///< of each band: those along the lines that end in its last row
  int pitch;
  int rows;  ///< of a band, a multiple of kRowsAtOnce

  __device__ unsigned sum(int x, int y) const { return sums[std::size_t(y) * pitch + x]; }
};

/// Inclusive maximum scan over the lanes of a warp.
__device__ unsigned largest_so_far(unsigned v) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2)
    v = max(v, __shfl_sync(kWholeWarp, v, max(lane - distance, 0)));
  return v;
}

/// Some samples of a row, as they are loaded and stored together.
template <typename T>
union SampleVector {
  static constexpr int kSamples = 16 / sizeof(T);
  uint4 all;
  T samples[kSamples];
};

/// A block computes the sums (running maxima) of a row.
template <typename T>
__global__ void __launch_bounds__(kThreads)
    sum_rows_kernel(const __grid_constant__ BandJob<T> job, bool sum_up) {
  using Vector = SampleVector<T>;
  constexpr int kEach = Vector::kSamples, kWarps = kThreads / 32;
  __shared__ unsigned totals[2][kWarps];
  const int y = blockIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const T *const from = job.in.row(y);
  T *const to = job.sums + std::size_t(y) * job.pitch;
  const bool aligned = reinterpret_cast<std::uintptr_t>(from) % sizeof(uint4) == 0;
  unsigned before = 0;
  int turn = 0;
  for (int begin = 0; begin < job.pitch; begin += kThreads * kEach, turn ^= 1) {
    const int first = begin + static_cast<int>(threadIdx.x) * kEach;
    Vector vector{};
    if (aligned && first + kEach <= job.in.width) {
      vector.all = *reinterpret_cast<const uint4 *>(from + first);
    } else {
#pragma unroll
      for (int k = 0; k < kEach; ++k)
        if (first + k < job.in.width) vector.samples[k] = from[first + k];
    }
    unsigned v[kEach];
#pragma unroll
    for (int k = 0; k < kEach; ++k)
      v[k] = first + k < job.in.width ? job.target.complemented(vector.samples[k]) : 0;
    if (sum_up) {
#pragma unroll
      for (int k = 1; k < kEach; ++k) v[k] = max(v[k], v[k - 1]);
      const unsigned so_far = largest_so_far(v[kEach - 1]);
      if (lane == 31) totals[turn][warp] = so_far;
      __syncthreads();
      const unsigned left = __shfl_sync(kWholeWarp, so_far, max(lane - 1, 0));
      unsigned carried = lane > 0 ? max(left, before) : before;
#pragma unroll
      for (int w = 0; w < kWarps; ++w) {
        const unsigned total = totals[turn][w];
        if (w < warp) carried = max(carried, total);
        before = max(before, total);
      }
#pragma unroll
      for (int k = 0; k < kEach; ++k) v[k] = max(v[k], carried);
    }
    if (first >= job.pitch) continue;
#pragma unroll
    for (int k = 0; k < kEach; ++k) vector.samples[k] = static_cast<T>(v[k]);
    *reinterpret_cast<uint4 *>(to + first) = vector.all;
  }
}

/// Loads the terms of a form at kRowsAtOnce pixels of a line: (x, y) and so on. Left of the image
/// and below it they mean nothing. Nothing branches, so that no load waits for another.
template <typename T>
__device__ void load_terms(const BandJob<T> &job, const RecursiveForm &form, int x, int step_x,
                           int y, int step_y, unsigned (&terms)[kRowsAtOnce]) {
  const int right = job.in.width - 1, bottom = job.in.height - 1;
#pragma unroll
  for (unsigned &term : terms) term = 0;
#pragma unroll 1
  for (int i = 0; i < form.n_terms; ++i) {
    const int below = form.terms[i], reach = form.reach[below];
    unsigned v[kRowsAtOnce];
#pragma unroll
    for (int k = 0; k < kRowsAtOnce; ++k)
      v[k] =
          job.sum(min(max(x + k * step_x, 0), right) + reach, min(y + k * step_y + below, bottom));
#pragma unroll
    for (int k = 0; k < kRowsAtOnce; ++k)
      if (y + k * step_y + below <= bottom) terms[k] = max(terms[k], v[k]);
  }
}
/// The result at a pixel of the first row.
template <typename T>
__device__ unsigned first_at(const BandJob<T> &job, const RecursiveForm &form, int x) {
  unsigned v = job.target.outside;
#pragma unroll 16
  for (int k = 0; k < min(form.rows, job.in.height); ++k)
    if (form.reach[k] >= 0) v = max(v, job.sum(x + form.reach[k], k));
  return v;
}

/// Computes the maxima of all bands but the last.
template <typename T>
__global__ void __launch_bounds__(kThreads)
    band_maxima_kernel(const __grid_constant__ BandJob<T> job,
                       const __grid_constant__ RecursiveForm form) {
  const int x = blockIdx.x * kThreads + threadIdx.x, edge = job.in.width - 1;
  if (x > edge) return;
  const int last = (blockIdx.y + 1) * job.rows - 1;
  unsigned v = blockIdx.y == 0 ? first_at(job, form, min(x + form.step * (job.rows - 1), edge)) : 0;
  for (int i = 0; i < job.rows; i += kRowsAtOnce) {
    unsigned terms[kRowsAtOnce];
    load_terms(job, form, x + form.step * i, form.step, last - i, -1, terms);
#pragma unroll
    for (const unsigned term : terms) v = max(v, term);
  }
  job.maxima[std::size_t(blockIdx.y) * job.in.width + x] = static_cast<T>(v);
}

/// A thread goes along a line through the rows of a band.
template <typename T>
__global__ void __launch_bounds__(kThreads)
    band_lines_kernel(const __grid_constant__ BandJob<T> job,
                      const __grid_constant__ RecursiveForm form) {
  const int line = blockIdx.x * kThreads + threadIdx.x, band = blockIdx.y;
  const int edge = job.in.width - 1, begin = band * job.rows;
  const int n = min(job.rows, job.in.height - begin), step = max(form.step, 0);
  if (line > edge + step * (n - 1)) return;
  unsigned before = 0;
  if (form.step < 0) {
    before = job.target.outside;
  } else if (band == 0) {
    before = first_at(job, form, min(line, edge));
  } else {
    const T *maxima = job.maxima + std::size_t(band - 1) * job.in.width;
    int x = min(line + step, edge);
#pragma unroll kRowsAtOnce
    for (int i = 0; i < band; ++i) {
      before = max(before, unsigned{maxima[x]});
      maxima -= job.in.width;
      x = min(x + step * job.rows, edge);
    }
  }
  for (int first = 0; first < n; first += kRowsAtOnce) {
    if (line - step * first < 0) return;
    unsigned terms[kRowsAtOnce];
    load_terms(job, form, line - step * first, -step, begin + first, 1, terms);
#pragma unroll
    for (int k = 0; k < kRowsAtOnce; ++k) {
      const int x = line - step * (first + k);
      const unsigned v = max(before, terms[k]);
      if (form.step >= 0) before = v;
      if (x >= 0 && x <= edge && first + k < n)
        job.target.out.row(begin + first + k)[x] = job.target.complemented(static_cast<T>(v));
    }
  }
}

}  // namespace

template <typename T>
void recursive_bands(Cuda &cuda, Plane<const T> in, const RecursiveTarget<T> &target,
                     const RecursiveForm &wanted) {
  RecursiveForm form = wanted;
  form.step = std::min(form.step, in.width - 1);  // no row is longer
  const int reach = *std::max_element(form.reach, form.reach + form.rows);
  BandJob<T> job{in, target, nullptr, nullptr, 0, 0};
  job.pitch = divide_up(in.width + std::max(reach, 0), 128) * 128;
  job.rows = std::max(kLeastBandRows, divide_up(in.height, kMostBands * kRowsAtOnce) * kRowsAtOnce);
  const int bands = divide_up(in.height, job.rows);
  const std::size_t sums = std::size_t(job.pitch) * in.height;
  job.sums =
      static_cast<T *>(cuda.scratch((sums + std::size_t(in.width) * (bands - 1)) * sizeof(T)));
  job.maxima = job.sums + sums;
  launch(cuda, sum_rows_kernel<T>, {in.height, kThreads}, job, form.sums_up);
  if (form.step >= 0 && bands > 1)
    launch(cuda, band_maxima_kernel<T>, {dim3(divide_up(in.width, kThreads), bands - 1), kThreads},
           job, form);
  const int lines = in.width + std::max(form.step, 0) * (job.rows - 1);
  launch(cuda, band_lines_kernel<T>, {dim3(divide_up(lines, kThreads), bands), kThreads}, job,
         form);
}
template void recursive_bands(Cuda &, Plane<const std::uint8_t>,
                              const RecursiveTarget<std::uint8_t> &, const RecursiveForm &);
template void recursive_bands(Cuda &, Plane<const std::uint16_t>,
                              const RecursiveTarget<std::uint16_t> &, const RecursiveForm &);

}  // namespace cudascan::swo
