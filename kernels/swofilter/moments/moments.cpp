// SPDX-License-Identifier: LGPL-2.1-or-later
// The sums over a window's columns move down the image: they add a row and subtract a row. Along a
// row, the window is a running sum of them. The cost per pixel does not depend on the window.
#include "kernels/swofilter/moments/moments.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "kernels/swofilter/moments/cpu.h"
#include "kernels/swofilter/moments/sums.h"

namespace cudascan::swo {
namespace {

using namespace sums;

constexpr int kMinRows = 64;  // fewer rows do not justify a thread

/// Sums over the columns of a window, for the columns of the image and of its margins.
template <typename E>
class MomentColumns {
 public:
  MomentColumns(int width, int radius, ThreadScratch &scratch)
      : width_(width),
        radius_(radius),
        size_(width + 2 * radius + 1 + kSlack),
        all_(scratch.take<E>(size_)),
        window_(scratch.take<E>(kBlock + kSlack)) {
    std::fill_n(all_, size_, E{0});
  }

  /// The sums for columns of the image.
  E *image() { return all_ + radius_ + 1; }

  /// Sets the sum over a column outside the image.
  void fill(SwoFilterBorder border, E outside) {
    const auto at = [&](int x) {
      const int column = resolve(x, width_, border);
      return column < 0 ? outside : image()[column];
    };
    for (int i = 1; i <= radius_; ++i) {
      image()[-i] = at(-i);
      image()[width_ - 1 + i] = at(width_ - 1 + i);
    }
  }

  /// Begins with the first pixel of the row.
  void begin_row() { carry_ = std::accumulate(all_, all_ + 2 * radius_ + 1, E{0}); }
  /// Windows of the next n pixels.
  /// @param x  the first one
  template <typename Scan>
  const E *next(int x, int n, const Scan &scan) {
    carry_ = scan(all_ + x + 2 * radius_ + 1, all_ + x, n, carry_, window_);
    return window_;
  }

 private:
  const int width_, radius_;
  const std::size_t size_;
  E *const all_;     ///< after a column that is 0, the one before the first window
  E *const window_;  ///< sums of windows
  E carry_ = 0;
};

/// Processes a band of an image from top to bottom.
/// @tparam Rows  Results or SumRows
template <typename T, typename Rows>
class Band {
 public:
  Band(Plane<const T> in, Rows rows, const FilterJob &job, ThreadScratch &scratch)
      : in_(in),
        job_(job),
        rx_(job.mask().rx()),
        ry_(job.mask().ry()),
        squared_(job.op == SwoFilterOperator::standard_deviation),
        columns_(in.width, rx_, scratch),
        squares_(squared_ ? in.width : 0, squared_ ? rx_ : 0, scratch),
        no_row_(scratch.take<T>(in.width)),
        outside_(scratch.take<T>(in.width)),
        rows_(std::move(rows)) {
    std::fill_n(no_row_, in.width, T{0});
    std::fill_n(outside_, in.width, static_cast<T>(outside_sample()));
  }

  void operator()(int begin, int end) {
    for (int y = begin - ry_; y < begin + ry_; ++y) slide(row(y), no_row_);
    for (int y = begin; y < end; ++y) {
      slide(row(y + ry_), y > begin ? row(y - ry_ - 1) : no_row_);
      const std::uint32_t level = outside_sample() >> job_.shift, height = job_.mask().height;
      columns_.fill(job_.border, height * level);
      if (squared_)
        squares_.fill(job_.border, static_cast<Square<T>>(std::uint64_t{height} * level * level));
      write(y);
    }
  }

 private:
  unsigned outside_sample() const {
    return job_.border == SwoFilterBorder::constant ? job_.outside : 0;
  }
  const T *row(int y) const {
    const int inside = resolve(y, in_.height, job_.border);
    return inside < 0 ? outside_ : in_.row(inside);
  }

  void slide(const T *enters, const T *leaves) {
    loops_.slide(enters, leaves, in_.width, job_.shift, columns_.image());
    if (squared_) loops_.slide_squares(enters, leaves, in_.width, job_.shift, squares_.image());
  }

  void write(int y) {
    rows_.begin_row(y);
    columns_.begin_row();
    if (squared_) squares_.begin_row();
    for (int x = 0; x < in_.width; x += kBlock) {
      const int n = std::min(kBlock, in_.width - x);
      const std::uint32_t *const sums = columns_.next(x, n, loops_.scan);
      rows_.write(x, n, sums, squared_ ? squares_.next(x, n, loops_.scan_squares) : nullptr);
    }
  }

  const MomentLoops<T> &loops_ = sums::loops<T>();
  const Plane<const T> in_;
  const FilterJob &job_;
  const int rx_, ry_;
  const bool squared_;
  MomentColumns<std::uint32_t> columns_;
  MomentColumns<Square<T>> squares_;
  T *const no_row_, *const outside_;
  Rows rows_;
};

}  // namespace

template <typename T>
void moments(Cpu &cpu, Plane<const T> in, Plane<T> out, const FilterJob &job) {
  cpu.for_bands(in.height, std::max(kMinRows, job.mask().height), [&](int begin, int end) {
    if (!job.mask().rectangle) return filter_mask(in, out, job, begin, end);
    ThreadScratch &scratch = ThreadScratch::of_thread();
    Results<T> results(in, out, job, 0, in.width, scratch);
    Band<T, Results<T>>(in, std::move(results), job, scratch)(begin, end);
  });
}
template void moments(Cpu &, Plane<const std::uint8_t>, Plane<std::uint8_t>, const FilterJob &);
template void moments(Cpu &, Plane<const std::uint16_t>, Plane<std::uint16_t>, const FilterJob &);

template <typename T>
void window_sums(Cpu &cpu, Plane<const T> in, Plane<std::uint32_t> sums, Plane<Square<T>> squares,
                 const FilterJob &job) {
  const SumRows<T> rows(sums, squares);
  cpu.for_bands(in.height, std::max(kMinRows, job.mask().height), [&](int begin, int end) {
    if (!job.mask().rectangle) return sum_mask(in, rows, job, begin, end);
    Band<T, SumRows<T>>(in, rows, job, ThreadScratch::of_thread())(begin, end);
  });
}
template void window_sums(Cpu &, Plane<const std::uint8_t>, Plane<std::uint32_t>,
                          Plane<std::uint32_t>, const FilterJob &);
template void window_sums(Cpu &, Plane<const std::uint16_t>, Plane<std::uint32_t>, Plane<double>,
                          const FilterJob &);

}  // namespace cudascan::swo
