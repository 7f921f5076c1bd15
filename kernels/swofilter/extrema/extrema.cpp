// SPDX-License-Identifier: LGPL-2.1-or-later
// Operators are chains of one or two stages (stages.h). They read the image once, in strips of
// columns whose rows stay in the cache.
#include "kernels/swofilter/extrema/extrema.h"

#include <algorithm>
#include <limits>

#include "kernels/swofilter/extrema/rows.h"
#include "kernels/swofilter/extrema/stages.h"

namespace cudascan::swo {
namespace {

using namespace extremes;

constexpr int kMinRows = 64;  // fewer rows do not justify a thread

/// Limit for the memory of a strip's stages in bytes, unless the strip would be below kMinColumns.
constexpr std::size_t kStripBytes = 1 << 20;
constexpr int kMinColumns = 512;

/// The operators as steps: maxima (true) or minima of the image, and the final operation.
struct Steps {
  bool largest;
  enum { nothing, other_way, both_ways } more;
  enum { as_is, midpoint, difference, without_image, image_without } result;

  static Steps of(SwoFilterOperator op) {
    using Op = SwoFilterOperator;
    switch (op) {
      case Op::maximum:
      case Op::dilate:
        return {true, nothing, as_is};
      case Op::midpoint:
        return {true, both_ways, midpoint};
      case Op::gradient:
        return {true, both_ways, difference};
      case Op::open:
        return {false, other_way, as_is};
      case Op::close:
        return {true, other_way, as_is};
      case Op::top_hat:
        return {false, other_way, image_without};
      case Op::black_hat:
        return {true, other_way, without_image};
      default:
        return {false, nothing, as_is};
    }
  }
};

/// The pixels whose windows have no sample, with clip. Only for text masks, so up to 31 columns.
class EmptyWindows {
 public:
  EmptyWindows(const Mask &mask, int width, int height)
      : mask_(mask), width_(width), height_(height) {}

  /// Calls visit(x) for these pixels in a row.
  template <typename Visit>
  void visit(int y, const Visit &visit) const {
    const int rx = mask_.rx(), ry = mask_.ry();
    std::uint64_t columns = 0;  // columns with a cell in a row inside the image
    for (int row = std::max(0, ry - y); row < std::min(mask_.height, ry + height_ - y); ++row)
      for (int column = 0; column < mask_.width; ++column)
        columns |= std::uint64_t{mask_.at(column, row) == Mask::on} << column;
    for (int x = 0; x < width_; ++x) {
      if (columns != 0 && x >= rx && x < width_ - rx) {  // all columns are inside the image
        x = width_ - rx - 1;
        continue;
      }
      const int first = std::max(0, rx - x), end = std::min(mask_.width, rx + width_ - x);
      if ((columns >> first & ((std::uint64_t{1} << (end - first)) - 1)) == 0) visit(x);
    }
  }

 private:
  const Mask &mask_;
  int width_, height_;
};

/// A direction through an image, with the window of its first stage.
template <typename T>
struct Pass {
  Plane<const T> from;
  Plane<T> to;
  Steps steps;
  const Mask &mask;
};

template <typename T>
class Filter {
 public:
  Filter(Cpu &cpu, Plane<const T> in, Plane<T> out, const FilterJob &job)
      : cpu_(cpu),
        in_(in),
        out_(out),
        job_(job),
        border_(border_of(job)),
        mask_(job.mask()),
        reflected_(mask_.rectangle ? Mask{} : mask_.reflected()) {}

  void operator()() {
    const Steps steps = Steps::of(job_.op);
    const bool in_order = border_ == SwoFilterBorder::clip || border_ == SwoFilterBorder::constant;
    if (steps.more == Steps::other_way && !in_order) return run_apart(steps);
    run({in_, out_, steps, mask_});
    if (border_ == SwoFilterBorder::clip && mask_.at(mask_.rx(), mask_.ry()) != Mask::on)
      fill_empty();
  }

 private:
  /// The simplest border with the same result.
  static SwoFilterBorder border_of(const FilterJob &job) {
    if (job.border == SwoFilterBorder::constant) return job.border;
    const Mask &mask = job.mask();
    const bool as_clipped =
        mask.rectangle ||
        (mask.reaches_inwards() && (job.border != SwoFilterBorder::reflect || mask.is_symmetric()));
    return as_clipped ? SwoFilterBorder::clip : job.border;
  }

  /// The sample outside the image for maxima or minima.
  OutsideSamples<T> outside(bool largest) const {
    if (border_ == SwoFilterBorder::constant) return {border_, static_cast<T>(job_.outside)};
    return {border_, static_cast<T>(largest ? 0 : job_.maximum)};
  }

  /// The window of the second step.
  const Mask &second_mask() const { return mask_.rectangle ? mask_ : reflected_; }

  /// Two steps; the second needs rows of the first in another order.
  void run_apart(const Steps &steps) {
    const std::size_t stride = ThreadScratch::stride<T>(in_.width);
    const Plane<T> between = {static_cast<T *>(cpu_.scratch(stride * in_.height * sizeof(T))),
                              in_.width, in_.height,
                              static_cast<std::ptrdiff_t>(stride * sizeof(T))};
    run({in_, between, {steps.largest, Steps::nothing, Steps::as_is}, mask_});
    run({between, out_, {!steps.largest, Steps::nothing, steps.result}, second_mask()});
  }

  void run(const Pass<T> &pass) {
    const std::size_t column_bytes =
        pass.mask.height * sizeof(T) * (pass.steps.more == Steps::nothing ? 1 : 2);
    const int most = std::max(kMinColumns, static_cast<int>(kStripBytes / column_bytes));
    const int width = in_.width, strips = (width + most - 1) / most;
    cpu_.for_bands(in_.height, std::max(kMinRows, pass.mask.height), [&](int begin, int end) {
      for (int i = 0; i < strips; ++i)
        run_strip(pass, {width * i / strips, width * (i + 1) / strips, width}, begin, end);
    });
  }

  /// The first stage, for these columns and rows from y on.
  std::unique_ptr<ExtremaRows<T>> first_stage(const Pass<T> &pass, bool largest,
                                              ColumnRange columns, int y,
                                              ThreadScratch &scratch) const {
    const OutsideSamples<T> outside = this->outside(largest);
    return extrema_rows<T>(
        largest, pass.mask, columns, outside,
        image_rows(pass.from, columns.reached(pass.mask.rx()), y - pass.mask.ry(), outside),
        scratch);
  }
  /// Both stages.
  std::unique_ptr<ExtremaRows<T>> second_stage(const Pass<T> &pass, ColumnRange columns, int y,
                                               ThreadScratch &scratch) const {
    const bool largest = !pass.steps.largest;
    const Mask &mask = second_mask();
    const ColumnRange reached = columns.reached(mask.rx());
    const OutsideSamples<T> outside = this->outside(largest);
    const int first = y - mask.ry();
    auto rows = between_stages<T>(first_stage(pass, !largest, reached, std::max(first, 0), scratch),
                                  reached.count(), first, in_.height, outside.sample);
    return extrema_rows<T>(largest, mask, columns, outside, std::move(rows), scratch);
  }

  void run_strip(const Pass<T> &pass, ColumnRange columns, int begin, int end) const {
    const Steps &steps = pass.steps;
    ThreadScratch &scratch = ThreadScratch::of_thread();
    const auto rows = steps.more == Steps::other_way
                          ? second_stage(pass, columns, begin, scratch)
                          : first_stage(pass, steps.largest, columns, begin, scratch);
    const auto others = steps.more == Steps::both_ways
                            ? first_stage(pass, !steps.largest, columns, begin, scratch)
                            : nullptr;
    const ExtremaLoops<T> &loops = extremes::loops<T>();
    const int n = columns.count();
    T *const row = scratch.take<T>(n), *const other = scratch.take<T>(n);
    for (int y = begin; y < end; ++y) {
      T *const out = pass.to.row(y) + columns.begin;
      const T *const in = in_.row(y) + columns.begin;
      rows->next(steps.result == Steps::as_is ? out : row);
      if (others) others->next(other);
      switch (steps.result) {
        case Steps::as_is:
          break;
        case Steps::midpoint:
          loops.midpoint(row, other, n, job_.shift, out);
          break;
        case Steps::difference:
          loops.subtract(row, other, n, out);
          break;
        case Steps::without_image:
          loops.subtract(row, in, n, out);
          break;
        case Steps::image_without:
          loops.subtract(in, row, n, out);
          break;
      }
    }
  }

  /// Results of windows without samples. Erosions, dilations and gradients are already correct:
  /// they find the largest or the smallest sample outside the image.
  void fill_empty() const {
    using Op = SwoFilterOperator;
    if (job_.op != Op::minimum && job_.op != Op::maximum && job_.op != Op::midpoint) return;
    const EmptyWindows empty(mask_, in_.width, in_.height);
    cpu_.for_bands(in_.height, kMinRows, [&](int begin, int end) {
      for (int y = begin; y < end; ++y)
        empty.visit(y, [&](int x) { out_.row(y)[x] = in_.row(y)[x]; });
    });
  }

  Cpu &cpu_;
  const Plane<const T> in_;
  const Plane<T> out_;
  const FilterJob &job_;
  const SwoFilterBorder border_;
  const Mask &mask_;
  const Mask reflected_;  ///< unless it is the same
};

}  // namespace

template <typename T>
void extrema(Cpu &cpu, Plane<const T> in, Plane<T> out, const FilterJob &job) {
  Filter<T>(cpu, in, out, job)();
}
template void extrema(Cpu &, Plane<const std::uint8_t>, Plane<std::uint8_t>, const FilterJob &);
template void extrema(Cpu &, Plane<const std::uint16_t>, Plane<std::uint16_t>, const FilterJob &);

}  // namespace cudascan::swo
