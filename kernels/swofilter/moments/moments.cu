// SPDX-License-Identifier: LGPL-2.1-or-later
// The sums over rectangles are those of windowsums/row_kernel.cuh, which cost the same for all
// sizes. Their windows are clipped at the border; for other borders the image is extended first.
// Windows of other shapes have sums.cuh.
#include "kernels/swofilter/moments/moments.h"

#include <type_traits>

#include "kernels/planes.h"
#include "kernels/swofilter/cells.cuh"
#include "kernels/swofilter/moments/decisions.cuh"
#include "kernels/swofilter/moments/sums.cuh"
#include "kernels/swofilter/moments/sums.h"

namespace cudascan::swo {
namespace {

/// @param deviation  the standard deviation, otherwise the mean
template <typename T>
void clipped_moments(Cuda &cuda, Plane<const T> in, Plane<T> out, const Mask &mask, int shift,
                     bool deviation) {
  MomentJob<T> job(out, mask.rx(), mask.ry());
  job.level_shift = shift;
  const int most = std::min(mask.width, in.width) * std::min(mask.height, in.height);
  job.mean_shift = windowsums::ByteMeans::shift(most);
  job.variance_shift = windowsums::ByteDeviation::shift(most);
  const auto go = [&]<typename Decision>() {
    const auto shape = windowsums::Planner<Decision::kSquared, T>(cuda, in, job).plan();
    windowsums::launch_rows<Decision>(cuda, shape, job);
  };
  deviation ? go.template operator()<DeviationDecision<T>>()
            : go.template operator()<MeanDecision<T>>();
}

template <typename T>
struct ExtendJob {
  Source<T> in;
  Plane<T> out;
  int rx, ry;  // columns and rows that are added at each side
};

template <typename T>
__global__ void __launch_bounds__(256) extend_kernel(const __grid_constant__ ExtendJob<T> job) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= job.out.width || y >= job.out.height) return;
  job.in.visit(x - job.rx, y - job.ry, [&](unsigned v) { job.out.row(y)[x] = static_cast<T>(v); });
}

template <typename T>
std::size_t stride_of(int width) {
  constexpr std::size_t kAlignment = 256;
  return (width * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
}

template <typename T>
ShapeSource<T> source_of(Plane<const T> in, const FilterJob &job) {
  return {in, job, 0, job.border == SwoFilterBorder::clip ? 0 : job.mask().rx()};
}

/// Queues the edges of windows.
/// @param out  of the size of the image
template <typename T>
ShapeMomentJob<T> make_edges(Cuda &cuda, const ShapeSource<T> &source, Plane<T> out,
                             const FilterJob &job) {
  const Mask &mask = job.mask();
  // Each row begins with an empty window, in a column that is aligned if the image is.
  constexpr int kStep = 128;
  const int start = divide_up(source.beside + mask.rx(), kStep) * kStep;
  const int stride = divide_up(start + out.width, kStep) * kStep;
  const std::size_t elements = std::size_t(stride) * out.height;
  const bool squared = job.op == SwoFilterOperator::standard_deviation;
  auto *const memory = static_cast<unsigned char *>(
      cuda.scratch(elements * (sizeof(std::uint32_t) + (squared ? sizeof(ShapeSquare<T>) : 0))));
  const ShapeMomentJob<T> shape{
      source,
      out,
      job.shift,
      {reinterpret_cast<std::uint32_t *>(memory), stride, start},
      {reinterpret_cast<ShapeSquare<T> *>(memory + elements * sizeof(std::uint32_t)), stride,
       start},
      WindowCells(mask)};
  queue_edges(cuda, job, shape);
  return shape;
}

template <typename T>
void shape_moments(Cuda &cuda, Plane<const T> in, Plane<T> out, const FilterJob &job) {
  const ShapeSource<T> source = source_of(in, job);
  if (job.mask().is_cross()) return queue_cross(cuda, job, source, out);
  queue_results(cuda, job, make_edges(cuda, source, out, job));
}

}  // namespace

template <typename T>
void moments(Cuda &cuda, Plane<const T> in, Plane<T> out, const FilterJob &job) {
  const Source<T> source(in, job);
  const Mask &mask = job.mask();
  const bool deviation = job.op == SwoFilterOperator::standard_deviation;
  if (!mask.rectangle) return shape_moments(cuda, in, out, job);
  if (job.border == SwoFilterBorder::clip)
    return clipped_moments(cuda, in, out, mask, job.shift, deviation);

  const int width = in.width + 2 * mask.rx(), height = in.height + 2 * mask.ry();
  const std::size_t stride = stride_of<T>(width), bytes = stride * height;
  auto *const memory = static_cast<unsigned char *>(cuda.scratch(2 * bytes));
  const auto plane = [&](unsigned char *data) {
    return Plane<T>{reinterpret_cast<T *>(data), width, height, static_cast<std::ptrdiff_t>(stride),
                    in.maximum};
  };
  const Plane<T> extended = plane(memory), result = plane(memory + bytes);
  launch(cuda, extend_kernel<T>, {dim3(divide_up(width, 32), divide_up(height, 8)), dim3(32, 8)},
         ExtendJob<T>{source, extended, mask.rx(), mask.ry()});
  clipped_moments<T>(cuda, extended, result, mask, job.shift, deviation);
  copy(cuda, {result.row(mask.ry()) + mask.rx(), in.width, in.height, result.stride}, out);
}

template void moments(Cuda &, Plane<const std::uint8_t>, Plane<std::uint8_t>, const FilterJob &);
template void moments(Cuda &, Plane<const std::uint16_t>, Plane<std::uint16_t>, const FilterJob &);

template <typename T>
void window_sums(Cuda &cuda, Plane<const T> in, Plane<std::uint32_t> sums,
                 Plane<sums::Square<T>> squares, const FilterJob &job) {
  const Plane<T> size{nullptr, in.width, in.height, 0};
  queue_sums(cuda, make_edges(cuda, source_of(in, job), size, job), sums, squares);
}
template void window_sums(Cuda &, Plane<const std::uint8_t>, Plane<std::uint32_t>,
                          Plane<std::uint32_t>, const FilterJob &);
template void window_sums(Cuda &, Plane<const std::uint16_t>, Plane<std::uint32_t>, Plane<double>,
                          const FilterJob &);

}  // namespace cudascan::swo
