// SPDX-License-Identifier: LGPL-2.1-or-later
// Windows that are not rectangles, by their runs (shapes/plan.h).
#include "kernels/swofilter/extrema/kernels.cuh"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "kernels/base/launch.cuh"
#include "kernels/swofilter/extrema/windows.cuh"
#include "kernels/swofilter/shapes/tile.cuh"

namespace cudascan::swo::extremes {
namespace {

template <typename T>
struct ShapeJob {
  ShapeSource<T> in;
  ExtremaSink<T> sink;
  ShapePlan plan;
};

/// Extrema of a thread's pixels.
template <typename T, typename Op>
struct ShapeExtrema {
  Packed<T> extremum[kShapeWords];

  __device__ explicit ShapeExtrema(unsigned none) {
#pragma unroll
    for (Packed<T> &p : extremum) p = spread<T>(none);
  }
  __device__ void operator()(const unsigned (&words)[kShapeWords]) {
#pragma unroll
    for (int k = 0; k < kShapeWords; ++k) extremum[k] = Op{}(extremum[k], spread<T>(words[k]));
  }
  __device__ void operator()(const unsigned (&a)[kShapeWords], const unsigned (&b)[kShapeWords]) {
#pragma unroll
    for (int k = 0; k < kShapeWords; ++k)
      extremum[k] = three(Op{}, extremum[k], spread<T>(a[k]), spread<T>(b[k]));
  }
  /// Four words from word k on.
  __device__ uint4 words(int k) const {
    return {joined(extremum[k]), joined(extremum[k + 1]), joined(extremum[k + 2]),
            joined(extremum[k + 3])};
  }
};

template <typename T, typename Op>
__device__ uint4 extrema_of_units(const uint4 &a, const uint4 &b) {
  const auto of = [](unsigned a, unsigned b) { return joined(Op{}(spread<T>(a), spread<T>(b))); };
  return {of(a.x, b.x), of(a.y, b.y), of(a.z, b.z), of(a.w, b.w)};
}

template <typename T>
CUDASCAN_HD unsigned in_all_samples(unsigned v) {
  return sizeof(T) == 1 ? v * 0x01010101u : v * 0x00010001u;
}

template <typename T, typename Op>
__global__ void __launch_bounds__(1024) shape_kernel(const __grid_constant__ ShapeJob<T> job) {
  const ShapeTile<T> tile(job.plan, 0);
  ShapeExtrema<T, Op> result(in_all_samples<T>(job.in.none));
  const std::uint32_t *words = job.plan.words;
  for (int phase = 0; phase < job.plan.phases; ++phase) {
    const int first_row = static_cast<int>(words[0]), rows = words[1], lists = words[2];
    words += 3;
    if (phase > 0) __syncthreads();
    tile.load(job.in, first_row, rows);
    for (int list = 0; list < lists; ++list) {
      if (list > 0)
        tile.widen(rows, static_cast<int>(sizeof(T)) << (list - 1), extrema_of_units<T, Op>);
      words = tile.visit(words, result);
    }
  }
  const Plane<const T> &in = job.in.image.plane;
  if (tile.y() >= in.height) return;
#pragma unroll
  for (int k = 0; k < kShapeWords; k += 4)
    if (const int x = tile.x() + k * Packed<T>::kSamples; x < in.width)
      job.sink.store(x, tile.y(), result.words(k));
}

template <typename T>
struct EmptyJob {
  Source<T> in;
  Plane<T> out;
  WindowCells cells;
};

/// Leaves pixels whose windows have no sample as they are.
template <typename T>
__global__ void __launch_bounds__(256) empty_kernel(const __grid_constant__ EmptyJob<T> job) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= job.out.width || y >= job.out.height || job.in.count(x, y, job.cells) > 0) return;
  job.out.row(y)[x] = job.in.plane.row(y)[x];
}

/// A run of samples is one part of a power of two of them, or two that overlap.
std::vector<ShapeRead> reads_of(const Mask &mask) {
  std::vector<ShapeRead> reads;
  for (const Run &run : mask.runs()) {
    const int length = run.last - run.first + 1;
    const int list = std::bit_width(static_cast<unsigned>(length)) - 1;
    reads.push_back({list, run.first, run.y});
    if (length != 1 << list) reads.push_back({list, run.last + 1 - (1 << list), run.y});
  }
  return reads;
}

}  // namespace

template <typename T, typename Op>
void queue_mask(Cuda &cuda, const ExtremaMaskJob<T> &job) {
  const Plane<const T> &in = job.in;
  const unsigned none = Op::kLargest ? 0 : job.filter->maximum;
  const ShapeJob<T> shape{ShapeSource<T>(in, *job.filter, none, job.mask->rx()), job.sink,
                          make_shape_plan(reads_of(*job.mask), {job.mask->rx(), job.mask->rx()},
                                          sizeof(T), cuda.most_shared_memory())};
  const dim3 blocks(divide_up(in.width, shape.plan.tile_bytes() / sizeof(T)),
                    divide_up(in.height, shape.plan.tile_rows()));
  launch(cuda, shape_kernel<T, Op>, {blocks, shape.plan.threads(), shape.plan.bytes}, shape);
  if (job.keeps_empty)
    launch(cuda, empty_kernel<T>,
           {dim3(divide_up(in.width, 32), divide_up(in.height, 8)), dim3(32, 8)},
           EmptyJob<T>{Source<T>(in, *job.filter), job.sink.out, WindowCells(*job.mask)});
}

template void queue_mask<std::uint8_t, Smallest>(Cuda &, const ExtremaMaskJob<std::uint8_t> &);
template void queue_mask<std::uint8_t, Largest>(Cuda &, const ExtremaMaskJob<std::uint8_t> &);
template void queue_mask<std::uint16_t, Smallest>(Cuda &, const ExtremaMaskJob<std::uint16_t> &);
template void queue_mask<std::uint16_t, Largest>(Cuda &, const ExtremaMaskJob<std::uint16_t> &);

}  // namespace cudascan::swo::extremes
