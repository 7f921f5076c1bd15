// SPDX-License-Identifier: LGPL-2.1-or-later
// Rectangles are separable. With a rectangle, samples outside the image do not change an extremum,
// except with a constant border: there the constant counts wherever the window leaves the image. So
// one kernel computes clipped rectangles, along the columns and along the rows in one launch. For
// large rectangles, the margin of a tile would be too large. They need two launches; each goes
// along the columns and transposes the image. Other windows are processed run by run.
#include "kernels/swofilter/extrema/extrema.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/swofilter/extrema/kernels.cuh"
#include "kernels/swofilter/extrema/windows.cuh"

namespace cudascan::swo {
namespace {

using namespace extremes;

/// Whether one launch does both directions.
bool in_one_go(const Mask &mask) {
  return std::max(mask.width, mask.height) <= kMostInOneGo;
}

/// @param turned  a plane as wide as the image is high and as high as it is wide, unless
///                in_one_go()
template <typename T, typename Op>
void rectangle_extrema(Cuda &cuda, const RectangleJob<T> &job, const Plane<T> &turned) {
  if (turned.height == 0) return queue_rectangle<T, Op>(cuda, job);
  const auto columns = [&](const WordPlane<T> &from, const ExtremaSink<T> &sink, int side) {
    queue_columns<T, Op>(cuda, {from, sink, side, 0, 0, job.constant, job.outside});
  };
  columns(job.in, {turned, ExtremaFinish::none, {}, {}, 0}, job.height);
  columns(WordPlane<T>(turned), job.sink, job.width);
}

/// One operator for one image.
template <typename T>
class Extrema {
 public:
  Extrema(Cuda &cuda, Plane<const T> in, Plane<T> out, const FilterJob &job)
      : cuda_(cuda), job_(job), in_(in), out_(out) {
    const auto wanted = [&](bool is_wanted, int width, int height) -> Plane<T> {
      if (!is_wanted) return {};
      const std::size_t stride =
          (width * sizeof(T) + kPlaneAlignment - 1) / kPlaneAlignment * kPlaneAlignment;
      return {nullptr, width, height, static_cast<std::ptrdiff_t>(stride), in.maximum};
    };
    step_ = wanted(needs_step(), in.width, in.height);
    turned_ = wanted(job.mask().rectangle && !in_one_go(job.mask()), in.height, in.width);
    const std::size_t of_step = step_.stride * step_.height,
                      of_turned = turned_.stride * turned_.height;
    if (of_step + of_turned == 0) return;
    auto *const memory = static_cast<unsigned char *>(cuda.scratch(of_step + of_turned));
    step_.data = reinterpret_cast<T *>(memory);
    turned_.data = reinterpret_cast<T *>(memory + of_step);
  }

  void operator()() {
    using Op = SwoFilterOperator;
    const ExtremaSink<T> result = {out_, ExtremaFinish::none, {}, in_, job_.shift};
    const ExtremaSink<T> step = {step_, ExtremaFinish::none, {}, in_, job_.shift};
    const auto finish = [&](ExtremaFinish how, Plane<const T> other) {
      return ExtremaSink<T>{out_, how, other, in_, job_.shift};
    };
    switch (job_.op) {
      case Op::minimum:
      case Op::erode:
        return extremum<Smallest>(in_, result, job_.mask());
      case Op::maximum:
      case Op::dilate:
        return extremum<Largest>(in_, result, job_.mask());
      case Op::midpoint:
        extremum<Smallest>(in_, step, job_.mask());
        return extremum<Largest>(in_, finish(ExtremaFinish::midpoint, step_), job_.mask());
      case Op::gradient:
        extremum<Smallest>(in_, step, job_.mask());
        return extremum<Largest>(in_, finish(ExtremaFinish::minus_other, step_), job_.mask());
      case Op::open:
      case Op::top_hat:
        extremum<Smallest>(in_, step, job_.mask());
        return extremum<Largest>(
            step_, job_.op == Op::open ? result : finish(ExtremaFinish::other_minus, in_),
            job_.mask().reflected());
      default:
        extremum<Largest>(in_, step, job_.mask());
        return extremum<Smallest>(
            step_, job_.op == Op::close ? result : finish(ExtremaFinish::minus_other, in_),
            job_.mask().reflected());
    }
  }

 private:
  static constexpr std::size_t kPlaneAlignment = 256;

  bool needs_step() const {
    using Op = SwoFilterOperator;
    return job_.op != Op::minimum && job_.op != Op::maximum && job_.op != Op::erode &&
           job_.op != Op::dilate;
  }

  static unsigned in_all_samples(unsigned v) {
    return sizeof(T) == 1 ? v * 0x01010101u : v * 0x00010001u;
  }

  template <typename Op>
  void extremum(Plane<const T> in, const ExtremaSink<T> &sink, const Mask &mask) {
    if (mask.rectangle) {
      const RectangleJob<T> job{WordPlane<T>(in),
                                sink,
                                mask.width,
                                mask.height,
                                job_.border == SwoFilterBorder::constant,
                                in_all_samples(job_.outside)};
      return rectangle_extrema<T, Op>(cuda_, job, turned_);
    }
    const bool keeps =
        job_.op == SwoFilterOperator::minimum || job_.op == SwoFilterOperator::maximum;
    const ExtremaMaskJob<T> job{Source<T>(in, job_), sink,
                                in_all_samples(Op::kLargest ? 0 : job_.maximum), keeps,
                                WindowCells(mask)};
    queue_mask<T, Op>(cuda_, job);
  }

  Cuda &cuda_;
  const FilterJob &job_;
  Plane<const T> in_;
  Plane<T> out_;
  Plane<T> step_{}, turned_{};
};

}  // namespace

template <typename T>
void extrema(Cuda &cuda, Plane<const T> in, Plane<T> out, const FilterJob &job) {
  Extrema<T>(cuda, in, out, job)();
}

template void extrema(Cuda &, Plane<const std::uint8_t>, Plane<std::uint8_t>, const FilterJob &);
template void extrema(Cuda &, Plane<const std::uint16_t>, Plane<std::uint16_t>, const FilterJob &);

}  // namespace cudascan::swo
