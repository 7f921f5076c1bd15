// SPDX-License-Identifier: LGPL-2.1-or-later
// From row to row and from column to column, the sum over a window changes by the samples at its
// edges, and this change, from row to row, by those at the corners of its outline: 12 for a cross,
// some 300 for an ellipse of 255 rows. They are added up for all columns at once. Differences may
// wrap around; sums do not.
#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "kernels/swofilter/moments/cpu.h"
#include "kernels/swofilter/moments/moments.h"

namespace cudascan::swo::sums {
namespace {

/// Columns are processed in strips with this many bytes of memory, but at least kMinColumns
/// columns.
constexpr std::size_t kStripBytes = 3 << 18;
constexpr int kMinColumns = 512;

/// A sample of a window, or next to it. Rows and columns are counted from the one above and to the
/// left of the window.
struct Corner {
  int row, column;
};

/// The samples that are added or subtracted, some twice.
struct Corners {
  std::vector<Corner> plus, minus;

  /// Those of the sum over the window, or of its difference from the sum for the pixel on the left,
  /// above, or of the difference of differences.
  Corners(const Mask &mask, bool from_left, bool from_above) {
    const auto cell = [&](int row, int column) {
      return row >= 0 && row < mask.height && column >= 0 && column < mask.width &&
             mask.at(column, row) == Mask::on;
    };
    const auto across = [&](int row, int column) {
      return cell(row, column - 1) - (from_left && cell(row, column));
    };
    for (int row = 0; row <= mask.height; ++row)
      for (int column = 0; column <= mask.width; ++column) {
        const int weight = across(row - 1, column) - (from_above ? across(row, column) : 0);
        std::vector<Corner> &corners = weight > 0 ? plus : minus;
        corners.insert(corners.end(), std::abs(weight), {row, column});
      }
  }
};

/// What a window adds up in the first row of a band and in the following rows: for the first pixel
/// of a row, and for the difference of each other one from the pixel on its left.
struct Outline {
  struct {
    Corners pixel, difference;
  } first, next;

  explicit Outline(const Mask &mask)
      : first{{mask, false, false}, {mask, true, false}},
        next{{mask, false, true}, {mask, true, true}} {}
};

/// Sums along a row of pixels, from the samples of the last rows (E), or their squares.
template <typename E, typename Sum>
class WindowSums {
 public:
  /// @param rows, pixels  0 if they are not used
  WindowSums(const Outline &outline, int rows, int columns, int pixels, ThreadScratch &scratch)
      : outline_(outline),
        rows_(rows),
        pixels_(pixels),
        stride_(ThreadScratch::stride<E>(columns + kTermSlack)),
        samples_(scratch.take<E>(stride_ * rows)),
        differences_(scratch.take<Sum>(pixels + kTermSlack)) {
    std::fill_n(samples_, stride_ * rows, E{0});
    std::fill_n(differences_, pixels + kTermSlack, Sum{0});
  }

  /// The memory of a new row.
  E *take() {
    newest_ = newest_ + 1 < rows_ ? newest_ + 1 : 0;
    return samples_ + stride_ * newest_;
  }
  /// Moves to the row of pixels that the newest row of samples completes.
  template <typename Add>
  void next(const Add &add) {
    const auto &corners = is_first_ ? outline_.first : outline_.next;
    is_first_ = false;
    const Terms<E> pixel = terms(corners.pixel, 0);
    for (int i = 0; i < pixel.pluses; ++i) pixel_ += *pixel.plus[i];
    for (int i = 0; i < pixel.minuses; ++i) pixel_ -= *pixel.minus[i];
    add(terms(corners.difference, 1), pixels_ - 1, differences_);
  }
  Sum first_pixel() const { return pixel_; }
  const Sum *differences() const { return differences_; }

 private:
  /// @param x  the pixel, counted from the first one
  Terms<E> terms(const Corners &corners, int x) {
    const auto find = [&](const Corner &corner) {
      const int place = newest_ + 1 + corner.row;
      return samples_ + stride_ * (place < rows_ ? place : place - rows_) + corner.column - 1 + x;
    };
    const auto find_all = [&](const std::vector<Corner> &from, std::vector<const E *> &to) {
      to.resize(from.size());
      std::transform(from.begin(), from.end(), to.begin(), find);
    };
    find_all(corners.plus, plus_);
    find_all(corners.minus, minus_);
    return {plus_.data(), minus_.data(), static_cast<int>(plus_.size()),
            static_cast<int>(minus_.size())};
  }

  const Outline &outline_;
  const int rows_, pixels_;
  const std::size_t stride_;
  E *const samples_;
  Sum *const differences_;
  std::vector<const E *> plus_, minus_;
  int newest_ = 0;
  bool is_first_ = true;
  Sum pixel_ = 0;  ///< the sum of the first pixel
};

/// Processes some columns of a band from top to bottom.
/// @tparam Rows  Results or SumRows
template <typename T, typename Rows>
class MaskStrip {
 public:
  MaskStrip(Plane<const T> in, const FilterJob &job, const Outline &outline, int begin, int end,
            Rows &rows, ThreadScratch &scratch)
      : in_(in),
        job_(job),
        mask_(job.mask()),
        squared_(job.op == SwoFilterOperator::standard_deviation),
        begin_(begin),
        pixels_(end - begin),
        columns_(pixels_ + mask_.width - 1),
        rows_(rows),
        sums_(outline, mask_.height + 1, columns_, pixels_, scratch),
        squares_(outline, squared_ ? mask_.height + 1 : 0, columns_, pixels_, scratch),
        zeros_(scratch.take<std::uint32_t>(pixels_ + kSlack)),
        sum_(scratch.take<std::uint32_t>(pixels_ + kSlack)),
        square_(scratch.take<Square<T>>(pixels_ + kSlack)) {
    std::fill_n(zeros_, pixels_ + kSlack, 0);
  }

  void operator()(int begin, int end) {
    for (int y = begin - mask_.ry(); y < begin + mask_.ry(); ++y) take(y);
    for (int y = begin; y < end; ++y) {
      take(y + mask_.ry());
      sums_.next(loops_.add);
      add_up(sums_, sum_);
      if (squared_) {
        squares_.next(loops_.add_squares);
        add_up(squares_, square_);
      }
      rows_.begin_row(y);
      for (int x = 0; x < pixels_; x += kBlock)
        rows_.write(begin_ + x, std::min(kBlock, pixels_ - x), sum_ + x, square_ + x);
    }
  }

 private:
  void take(int y) {
    const int row = resolve(y, in_.height, job_.border), first = begin_ - mask_.rx();
    const auto outside =
        static_cast<T>(job_.border == SwoFilterBorder::constant ? job_.outside : 0);
    T *const samples = sums_.take();
    // Columns of the image, with those outside on both sides.
    const int begin = std::max(0, -first), end = std::min(columns_, in_.width - first);
    const T *const from = row < 0 ? nullptr : in_.row(row);
    if (from)
      std::copy_n(from + first + begin, end - begin, samples + begin);
    else
      std::fill(samples + begin, samples + end, outside);
    const auto fill = [&](int from_column, int to_column) {
      for (int i = from_column; i < to_column; ++i) {
        const int column = resolve(first + i, in_.width, job_.border);
        samples[i] = column < 0 || !from ? outside : from[column];
      }
    };
    fill(0, begin);
    fill(end, columns_);
    if (job_.shift > 0)
      for (int i = 0; i < columns_; ++i) samples[i] = static_cast<T>(samples[i] >> job_.shift);
    if (squared_) loops_.square(samples, columns_, squares_.take());
  }

  /// Sums of all pixels of the row.
  template <typename E, typename Sum, typename Out>
  void add_up(const WindowSums<E, Sum> &of, Out *out) const {
    out[0] = static_cast<Out>(of.first_pixel());
    if constexpr (std::is_same_v<Sum, std::uint32_t>) {
      if (pixels_ > 1)
        loops_.scan(of.differences(), zeros_, pixels_ - 1, of.first_pixel(), out + 1);
    } else {
      Sum sum = of.first_pixel();
      for (int i = 1; i < pixels_; ++i)
        out[i] = static_cast<Out>(static_cast<std::int64_t>(sum += of.differences()[i - 1]));
    }
  }

  const MomentLoops<T> &loops_ = sums::loops<T>();
  const Plane<const T> in_;
  const FilterJob &job_;
  const Mask &mask_;
  const bool squared_;
  const int begin_, pixels_, columns_;
  Rows &rows_;
  WindowSums<T, std::uint32_t> sums_;
  WindowSums<SampleSquare<T>, Integral<T>> squares_;
  std::uint32_t *const zeros_, *const sum_;
  Square<T> *const square_;
};

/// @param rows_of  makes what writes columns [begin, end), in a thread's scratch memory
template <typename T, typename RowsOf>
void add_up_mask(Plane<const T> in, const FilterJob &job, int begin, int end,
                 const RowsOf &rows_of) {
  const Outline outline(job.mask());
  const std::size_t squares =
      job.op == SwoFilterOperator::standard_deviation ? sizeof(SampleSquare<T>) : 0;
  const int most =
      static_cast<int>(kStripBytes / ((sizeof(T) + squares) * (job.mask().height + 1)));
  const int columns = std::max(kMinColumns, most - job.mask().width);
  for (int x = 0; x < in.width; x += columns) {
    ThreadScratch &scratch = ThreadScratch::of_thread();
    const int to = std::min(x + columns, in.width);
    auto rows = rows_of(x, to, scratch);
    MaskStrip<T, decltype(rows)>(in, job, outline, x, to, rows, scratch)(begin, end);
  }
}

}  // namespace

template <typename T>
void filter_mask(Plane<const T> in, Plane<T> out, const FilterJob &job, int begin, int end) {
  add_up_mask(in, job, begin, end, [&](int from, int to, ThreadScratch &scratch) {
    return Results<T>(in, out, job, from, to, scratch);
  });
}
template <typename T>
void sum_mask(Plane<const T> in, const SumRows<T> &out, const FilterJob &job, int begin, int end) {
  add_up_mask(in, job, begin, end, [&](int, int, ThreadScratch &) { return out; });
}
template void filter_mask(Plane<const std::uint8_t>, Plane<std::uint8_t>, const FilterJob &, int,
                          int);
template void filter_mask(Plane<const std::uint16_t>, Plane<std::uint16_t>, const FilterJob &, int,
                          int);
template void sum_mask(Plane<const std::uint8_t>, const SumRows<std::uint8_t> &, const FilterJob &,
                       int, int);
template void sum_mask(Plane<const std::uint16_t>, const SumRows<std::uint16_t> &,
                       const FilterJob &, int, int);

}  // namespace cudascan::swo::sums
