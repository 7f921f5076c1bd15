// SPDX-License-Identifier: LGPL-2.1-or-later
// Operators are chains of one or two stages (extrema_stages.h). They go through the image once, in
// strips of columns whose rows stay in the cache.
#include "kernels/swofilter/extrema.h"

#include <algorithm>
#include <limits>

#include "kernels/swofilter/extrema_rows.h"
#include "kernels/swofilter/extrema_stages.h"

namespace cudascan::swo {
namespace {

using namespace extremes;

constexpr int kMinRows = 64;  // fewer are not worth a thread

/// Bytes that the stages of a strip keep, if it is not narrower than kMinColumns then.
constexpr std::size_t kStripBytes = 1 << 20;
constexpr int kMinColumns = 512;

const char between_key = 0;

/// The operators, in their steps: maxima (true) or minima of the image, and what is done then.
struct Steps {
  bool largest;
  enum { nothing, other_way, both_ways } more;
  enum { as_is, midpoint, difference, from_image, image_from } result;

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
        return {false, other_way, image_from};
      case Op::black_hat:
        return {true, other_way, from_image};
      default:
        return {false, nothing, as_is};
    }
  }
};

/// The pixels whose windows have no sample, with clip. For masks given as text, so of up to 31 columns.
class EmptyWindows {
 public:
  EmptyWindows(const Mask &mask, int width, int height)
      : mask_(mask), width_(width), height_(height) {}

  /// Calls visit(x) for those of a row.
  template <typename Visit>
  void visit(int y, const Visit &visit) const {
    const int rx = mask_.rx(), ry = mask_.ry();
    std::uint64_t columns = 0;  // in which a row that is in the image has a cell
    for (int row = std::max(0, ry - y); row < std::min(mask_.height, ry + height_ - y); ++row)
      for (int column = 0; column < mask_.width; ++column)
        columns |= std::uint64_t{mask_.at(column, row) == Mask::on} << column;
    for (int x = 0; x < width_; ++x) {
      if (columns != 0 && x >= rx && x < width_ - rx) {  // all columns are in the image
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

template <typename T>
class Filter {
 public:
  Filter(Cpu &cpu, Plane<const T> in, Plane<T> out, const Job &job)
      : cpu_(cpu),
        in_(in),
        out_(out),
        job_(job),
        steps_(Steps::of(job.op)),
        mask_(job.mask()),
        has_middle_(mask_.at(mask_.rx(), mask_.ry()) == Mask::on),
        of_window_(border_of(job)),
        second_(steps_.more == Steps::other_way && !mask_.rectangle ? mask_.reflected() : Mask{}) {}

  void operator()() {
    if (steps_.more == Steps::other_way && of_window_ != SwoFilterBorder::clip &&
        of_window_ != SwoFilterBorder::constant)
      return run_apart();
    run(in_, steps_.more);
    if (!has_middle_ && of_window_ == SwoFilterBorder::clip && steps_.more != Steps::other_way)
      fill_empty();
  }

 private:
  /// The border that gives the same and is done with most easily.
  static SwoFilterBorder border_of(const Job &job) {
    if (job.border == SwoFilterBorder::constant) return job.border;
    if (job.border == SwoFilterBorder::clip) return job.border;
    return job.mask().rectangle || job.mask().reaches_inwards() ? SwoFilterBorder::clip
                                                                : job.border;
  }

  /// What is outside of the image when the largest, or smallest, sample is looked for.
  Outside<T> outside(bool largest) const {
    if (of_window_ == SwoFilterBorder::constant) return {of_window_, static_cast<T>(job_.outside)};
    return {of_window_, static_cast<T>(largest ? 0 : job_.maximum)};
  }

  /// The second step where it needs the image of the first in another order than it comes out.
  void run_apart() {
    const std::size_t stride = Scratch::stride<T>(in_.width);
    const Plane<T> between = {
        static_cast<T *>(cpu_.history(&between_key, stride * in_.height * sizeof(T))), in_.width,
        in_.height, static_cast<std::ptrdiff_t>(stride * sizeof(T))};
    const Steps all = steps_;
    const Plane<T> out = out_;
    steps_ = {all.largest, Steps::nothing, Steps::as_is};
    out_ = between;
    run(in_, Steps::nothing);
    steps_ = {!all.largest, Steps::nothing, all.result};
    out_ = out;
    apart_ = true;
    run(between, Steps::nothing);
  }

  /// @param image  what the first stage takes
  void run(Plane<const T> image, decltype(Steps::more) more) {
    const std::size_t column_bytes =
        std::size_t(mask_.height) * sizeof(T) * (more == Steps::nothing ? 1 : 2);
    const int most = std::max<int>(kMinColumns, static_cast<int>(kStripBytes / column_bytes));
    const int strips = (in_.width + most - 1) / most;
    cpu_.for_bands(in_.height, std::max(kMinRows, mask_.height), [&](int begin, int end) {
      for (int i = 0; i < strips; ++i)
        run_strip(image, more, {in_.width * i / strips, in_.width * (i + 1) / strips, in_.width},
                  begin, end);
    });
  }

  /// The first stage for these columns, and rows from y on.
  std::unique_ptr<Rows<T>> stage(Plane<const T> image, bool largest, Columns columns, int y,
                                 Scratch &scratch) const {
    const Outside<T> outside = this->outside(largest);
    const Mask &mask = apart_ ? second_mask() : mask_;
    return extrema_rows<T>(largest, mask, columns, outside,
                           image_rows(image, columns.reached(mask.rx()), y - mask.ry(), outside),
                           scratch);
  }
  const Mask &second_mask() const { return mask_.rectangle ? mask_ : second_; }

  void run_strip(Plane<const T> image, decltype(Steps::more) more, Columns columns, int begin,
                 int end) const {
    Scratch &scratch = Scratch::of_thread();
    std::unique_ptr<Rows<T>> rows, other;
    if (more == Steps::other_way) {
      const Columns first = columns.reached(mask_.rx());
      const int y = begin - mask_.ry();
      const Outside<T> outside = this->outside(!steps_.largest);
      rows = extrema_rows<T>(
          !steps_.largest, second_mask(), columns, outside,
          between_stages<T>(stage(image, steps_.largest, first, std::max(y, 0), scratch),
                            first.count(), y, in_.height, outside.sample),
          scratch);
    } else {
      rows = stage(image, steps_.largest, columns, begin, scratch);
      if (more == Steps::both_ways) other = stage(image, !steps_.largest, columns, begin, scratch);
    }
    const Loops<T> &loops = extremes::loops<T>();
    const int n = columns.count();
    T *const row = scratch.take<T>(n), *const other_row = scratch.take<T>(n);
    for (int y = begin; y < end; ++y) {
      T *const out = out_.row(y) + columns.begin;
      const T *const in = in_.row(y) + columns.begin;
      if (steps_.result == Steps::as_is) {
        rows->next(out);
        continue;
      }
      rows->next(row);
      if (other) other->next(other_row);
      switch (steps_.result) {
        case Steps::midpoint:
          loops.midpoint(row, other_row, n, job_.shift, out);
          break;
        case Steps::difference:
          loops.subtract(row, other_row, n, out);
          break;
        case Steps::from_image:
          loops.subtract(row, in, n, out);
          break;
        default:
          loops.subtract(in, row, n, out);
      }
    }
  }

  /// What windows without samples give. Erosions, dilations and gradients have that already: they find
  /// the largest, or the smallest, sample outside of the image.
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
  Plane<T> out_;
  const Job &job_;
  Steps steps_;
  const Mask &mask_;
  const bool has_middle_;
  const SwoFilterBorder of_window_;
  const Mask second_;  ///< the window of the second step, unless it is the same
  bool apart_ = false;
};

}  // namespace

template <typename T>
void extrema(Cpu &cpu, Plane<const T> in, Plane<T> out, const Job &job) {
  Filter<T>(cpu, in, out, job)();
}
template void extrema(Cpu &, Plane<const std::uint8_t>, Plane<std::uint8_t>, const Job &);
template void extrema(Cpu &, Plane<const std::uint16_t>, Plane<std::uint16_t>, const Job &);

}  // namespace cudascan::swo
