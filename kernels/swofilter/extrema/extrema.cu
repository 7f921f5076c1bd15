// SPDX-License-Identifier: LGPL-2.1-or-later
// Rectangles are separable. With a rectangle, samples outside the image do not change an extremum,
// except with a constant border: there the constant counts wherever the window leaves the image. So
// one kernel computes clipped rectangles, along the columns and along the rows in one launch, and
// another one both extrema. For large rectangles, the margin of a tile would be too large. They
// need two launches; each goes along the columns and transposes the image. A cross is two lines.
// Other windows are processed run by run.
#include "kernels/swofilter/extrema/extrema.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/swofilter/extrema/kernels.cuh"
#include "kernels/swofilter/extrema/windows.cuh"

namespace cudascan::swo {
namespace {

using namespace extremes;

/// Whether one launch does both directions.
bool in_one_go(const Mask &mask) {
  return std::max(mask.width, mask.height) <= kMostInOneGo;
}

bool is_cross(const Mask &mask) {
  return !mask.rectangle && mask.is_cross();
}

/// Both extrema of small rectangles.
template <typename T>
void rectangle_range(Cuda &cuda, const RectangleJob<T> &job) {
  if constexpr (sizeof(T) == 2)
    if (job.width == job.height && (job.width == 3 || job.width == 5) && job.in.quads_aligned)
      return queue_square_range(cuda, job);
  queue_range(cuda, job);
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
    const bool crosses = is_cross(job.mask());
    step_ = wanted(needs_step(), in.width, in.height);
    turned_ =
        wanted(crosses || (job.mask().rectangle && !in_one_go(job.mask())), in.height, in.width);
    rows_ = wanted(crosses, in.width, in.height);
    std::size_t bytes = 0;
    for (const Plane<T> *plane : {&step_, &turned_, &rows_}) bytes += plane->stride * plane->height;
    if (bytes == 0) return;
    auto *memory = static_cast<unsigned char *>(cuda.scratch(bytes));
    for (Plane<T> *plane : {&step_, &turned_, &rows_}) {
      plane->data = reinterpret_cast<T *>(memory);
      memory += plane->stride * plane->height;
    }
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
      case Op::gradient: {
        const auto how =
            job_.op == Op::midpoint ? ExtremaFinish::midpoint : ExtremaFinish::minus_other;
        if (!needs_step())
          return rectangle_range(cuda_, rectangle_job(in_, finish(how, {}), job_.mask()));
        extremum<Smallest>(in_, step, job_.mask());
        return extremum<Largest>(in_, finish(how, step_), job_.mask());
      }
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
    switch (job_.op) {
      case Op::minimum:
      case Op::maximum:
      case Op::erode:
      case Op::dilate:
        return false;
      case Op::midpoint:
      case Op::gradient:
        return !job_.mask().rectangle || !in_one_go(job_.mask());
      default:
        return true;
    }
  }

  static unsigned in_all_samples(unsigned v) {
    return sizeof(T) == 1 ? v * 0x01010101u : v * 0x00010001u;
  }

  RectangleJob<T> rectangle_job(Plane<const T> in, const ExtremaSink<T> &sink,
                                const Mask &mask) const {
    return {WordPlane<T>(in),
            sink,
            mask.width,
            mask.height,
            job_.border == SwoFilterBorder::constant,
            in_all_samples(job_.outside)};
  }

  template <typename Op>
  void extremum(Plane<const T> in, const ExtremaSink<T> &sink, const Mask &mask) {
    if (mask.rectangle)
      return rectangle_extrema<T, Op>(cuda_, rectangle_job(in, sink, mask), turned_);
    if (is_cross(mask)) return cross<Op>(in, sink, mask);
    const bool keeps_empty =
        (job_.op == SwoFilterOperator::minimum || job_.op == SwoFilterOperator::maximum) &&
        job_.border == SwoFilterBorder::clip && mask.at(mask.rx(), mask.ry()) != Mask::on;
    queue_mask<T, Op>(cuda_, {in, sink, &mask, &job_, keeps_empty});
  }

  /// Extrema of rows, as of a large rectangle, then those of columns and both.
  template <typename Op>
  void cross(Plane<const T> in, const ExtremaSink<T> &sink, const Mask &mask) {
    ExtremaColumnsJob<T> job{WordPlane<T>(in),
                             {turned_, ExtremaFinish::none, {}, {}, 0},
                             1,
                             0,
                             0,
                             job_.border == SwoFilterBorder::constant,
                             in_all_samples(job_.outside)};
    if (std::exchange(turned_from_, in.data) != in.data) queue_columns<T, Op>(cuda_, job);
    job.in = WordPlane<T>(turned_);
    job.sink.out = rows_;
    job.side = mask.width;
    queue_columns<T, Op>(cuda_, job);
    job.in = WordPlane<T>(in);
    job.sink = sink;
    job.side = mask.height;
    job.straight = true;
    job.also = rows_;
    queue_columns<T, Op>(cuda_, job);
  }

  Cuda &cuda_;
  const FilterJob &job_;
  Plane<const T> in_;
  Plane<T> out_;
  Plane<T> step_{}, turned_{};
  Plane<T> rows_{};                 // of a cross
  const T *turned_from_ = nullptr;  // the image that turned_ is a copy of, for a cross
};

}  // namespace

template <typename T>
void extrema(Cuda &cuda, Plane<const T> in, Plane<T> out, const FilterJob &job) {
  Extrema<T>(cuda, in, out, job)();
}

template void extrema(Cuda &, Plane<const std::uint8_t>, Plane<std::uint8_t>, const FilterJob &);
template void extrema(Cuda &, Plane<const std::uint16_t>, Plane<std::uint16_t>, const FilterJob &);

}  // namespace cudascan::swo
