// SPDX-License-Identifier: LGPL-2.1-or-later
// Summed-area tables: the sum of everything above and to the left of a corner. A window of any
// shape adds and subtracts the sums at the corners of its outline: four for a rectangle, twelve for
// a cross. Sums of areas may wrap around; those of windows do not.
#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "kernels/swofilter/moments/cpu.h"
#include "kernels/swofilter/moments/moments.h"

namespace cudascan::swo::sums {
namespace {

/// Columns are processed in strips with this many bytes of memory, but at least kMinColumns
/// columns.
constexpr std::size_t kStripBytes = 1 << 19;
constexpr int kMinColumns = 512;

/// A corner of cells; rows and columns of corners are counted from the upper left one.
struct Corner {
  int row, column;
};

/// The corners whose sums are added or subtracted, some twice.
struct Outline {
  std::vector<Corner> plus, minus;

  explicit Outline(const Mask &mask) {
    const auto cell = [&](int row, int column) {
      return row >= 0 && row < mask.height && column >= 0 && column < mask.width &&
             mask.at(column, row) == Mask::on;
    };
    for (int row = 0; row <= mask.height; ++row)
      for (int column = 0; column <= mask.width; ++column) {
        // A cell adds the corners at its lower right and upper left, and subtracts the others.
        const int weight = cell(row - 1, column - 1) + cell(row, column) - cell(row, column - 1) -
                           cell(row - 1, column);
        std::vector<Corner> &corners = weight > 0 ? plus : minus;
        corners.insert(corners.end(), std::abs(weight), {row, column});
      }
  }
};

/// Sums of areas for the last rows that a window needs.
template <typename E>
class Areas {
 public:
  Areas(const Outline &outline, int rows, int columns, ThreadScratch &scratch)
      : outline_(outline),
        rows_(rows),
        columns_(columns),
        stride_(ThreadScratch::stride<E>(columns + 1 + kSlack)),
        sums_(scratch.take<E>(stride_ * rows)),
        column_sums_(scratch.take<E>(columns + kSlack)),
        zeros_(scratch.take<E>(columns + kSlack)),
        plus_(outline.plus.size()),
        minus_(outline.minus.size()) {
    std::fill_n(sums_, stride_ * rows, E{0});
    std::fill_n(column_sums_, columns + kSlack, E{0});
    std::fill_n(zeros_, columns + kSlack, E{0});
  }

  /// Adds a row; add(sums) adds it to the sums of columns.
  template <typename Add, typename Loops>
  void take(const Add &add, const Loops &loops) {
    add(column_sums_);
    newest_ = newest_ + 1 < rows_ ? newest_ + 1 : 0;
    E *const row = at(rows_ - 1);
    row[0] = 0;
    if constexpr (sizeof(E) == sizeof(std::uint32_t))
      loops.scan(column_sums_, zeros_, columns_, 0, row + 1);
    else
      std::partial_sum(column_sums_, column_sums_ + columns_, row + 1);
  }

  /// The sums that windows add and subtract from column x on.
  Terms<E> terms(int x) {
    const auto find = [&](const Corner &corner) { return at(corner.row) + corner.column + x; };
    std::transform(outline_.plus.begin(), outline_.plus.end(), plus_.begin(), find);
    std::transform(outline_.minus.begin(), outline_.minus.end(), minus_.begin(), find);
    return {plus_.data(), minus_.data(), static_cast<int>(plus_.size()),
            static_cast<int>(minus_.size())};
  }

 private:
  /// A row; the last one is the newest.
  E *at(int row) const {
    const int place = newest_ + 1 + row;
    return sums_ + stride_ * (place < rows_ ? place : place - rows_);
  }

  const Outline &outline_;
  const int rows_, columns_;
  const std::size_t stride_;
  E *const sums_, *const column_sums_, *const zeros_;
  std::vector<const E *> plus_, minus_;
  int newest_ = 0;
};

/// Processes some columns of a band from top to bottom.
template <typename T>
class MaskStrip {
 public:
  MaskStrip(Plane<const T> in, const FilterJob &job, const Outline &outline, int begin, int end,
            Results<T> &results, ThreadScratch &scratch)
      : in_(in),
        job_(job),
        mask_(job.mask()),
        squared_(job.op == SwoFilterOperator::standard_deviation),
        begin_(begin),
        end_(end),
        columns_(end - begin + mask_.width - 1),
        results_(results),
        areas_(outline, mask_.height + 1, columns_, scratch),
        squares_(outline, squared_ ? mask_.height + 1 : 0, squared_ ? columns_ : 0, scratch),
        samples_(scratch.take<T>(columns_)),
        zeros_(scratch.take<T>(columns_)),
        sum_(scratch.take<std::uint32_t>(kBlock)),
        square_(scratch.take<Square<T>>(kBlock)) {
    std::fill_n(zeros_, columns_, T{0});
  }

  void operator()(int begin, int end) {
    for (int y = begin - mask_.ry(); y < begin + mask_.ry(); ++y) take(y);
    for (int y = begin; y < end; ++y) {
      take(y + mask_.ry());
      results_.begin_row(y);
      for (int x = begin_; x < end_; x += kBlock) write(x, std::min(kBlock, end_ - x));
    }
  }

 private:
  void take(int y) {
    const int row = resolve(y, in_.height, job_.border), first = begin_ - mask_.rx();
    const auto outside =
        static_cast<T>(job_.border == SwoFilterBorder::constant ? job_.outside : 0);
    // Columns of the image, with those outside on both sides.
    const int begin = std::max(0, -first), end = std::min(columns_, in_.width - first);
    if (row < 0)
      std::fill(samples_ + begin, samples_ + end, outside);
    else
      std::copy_n(in_.row(row) + first + begin, end - begin, samples_ + begin);
    const auto fill = [&](int from, int to) {
      for (int i = from; i < to; ++i) {
        const int column = resolve(first + i, in_.width, job_.border);
        samples_[i] = column < 0 ? outside : samples_[column - first];
      }
    };
    fill(0, begin);
    fill(end, columns_);
    areas_.take(
        [this](std::uint32_t *sums) { loops_.slide(samples_, zeros_, columns_, job_.shift, sums); },
        loops_);
    if (squared_) squares_.take([this](Integral<T> *sums) { add_squares(sums); }, loops_);
  }

  void add_squares(Integral<T> *sums) const {
    if constexpr (sizeof(T) == 1) {
      loops_.slide_squares(samples_, zeros_, columns_, job_.shift, sums);
    } else {
      for (int i = 0; i < columns_; ++i) {
        const std::uint64_t level = samples_[i] >> job_.shift;
        sums[i] += level * level;
      }
    }
  }

  void write(int x, int n) {
    loops_.add(areas_.terms(x - begin_), n, sum_);
    if (squared_) {
      if constexpr (sizeof(T) == 1)
        loops_.add(squares_.terms(x - begin_), n, square_);
      else
        loops_.add_wide(squares_.terms(x - begin_), n, square_);
    }
    results_.write(x, n, sum_, square_);
  }

  const MomentLoops<T> &loops_ = sums::loops<T>();
  const Plane<const T> in_;
  const FilterJob &job_;
  const Mask &mask_;
  const bool squared_;
  const int begin_, end_, columns_;
  Results<T> &results_;
  Areas<std::uint32_t> areas_;
  Areas<Integral<T>> squares_;
  T *const samples_, *const zeros_;
  std::uint32_t *const sum_;
  Square<T> *const square_;
};

}  // namespace

template <typename T>
void filter_mask(Plane<const T> in, Plane<T> out, const FilterJob &job, int begin, int end) {
  const Outline outline(job.mask());
  const std::size_t squares =
      job.op == SwoFilterOperator::standard_deviation ? sizeof(Integral<T>) : 0;
  const int most =
      static_cast<int>(kStripBytes / ((sizeof(std::uint32_t) + squares) * (job.mask().height + 1)));
  const int columns = std::max(kMinColumns, most - job.mask().width);
  for (int x = 0; x < in.width; x += columns) {
    ThreadScratch &scratch = ThreadScratch::of_thread();
    const int to = std::min(x + columns, in.width);
    Results<T> results(in, out, job, x, to, scratch);
    MaskStrip<T>(in, job, outline, x, to, results, scratch)(begin, end);
  }
}
template void filter_mask(Plane<const std::uint8_t>, Plane<std::uint8_t>, const FilterJob &, int,
                          int);
template void filter_mask(Plane<const std::uint16_t>, Plane<std::uint16_t>, const FilterJob &, int,
                          int);

}  // namespace cudascan::swo::sums
