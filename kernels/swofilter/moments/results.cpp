// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <numeric>

#include "kernels/swofilter/moments/cpu.h"
#include "kernels/swofilter/moments/moments.h"

namespace cudascan::swo::sums {

template <typename T>
Results<T>::Results(Plane<const T> in, Plane<T> out, const FilterJob &job, int begin, int end,
                    ThreadScratch &scratch)
    : in_(in),
      out_(out),
      job_(job),
      mask_(job.mask()),
      clip_(job.border == SwoFilterBorder::clip),
      may_be_empty_(clip_ && mask_.at(mask_.rx(), mask_.ry()) != Mask::on),
      begin_(begin),
      end_(end),
      count_(scratch.take<std::int32_t>(end - begin)),
      inverse_(scratch.take<Real<T>>(end - begin)),
      unsure_(scratch.take<std::uint8_t>(kBlock)),
      cells_(mask_.width) {}

template <typename T>
void Results<T>::begin_row(int y) {
  y_ = y;
  const int first = clip_ ? std::max(0, mask_.ry() - y) : 0,
            end = clip_ ? std::min(mask_.height, in_.height - y + mask_.ry()) : mask_.height;
  if (first == first_row_ && end == end_row_) return;
  // In this order, subtracted rows are still available.
  while (end_row_ < end) count_row(end_row_++, 1);
  while (first_row_ > first) count_row(--first_row_, 1);
  while (end_row_ > end) count_row(--end_row_, -1);
  while (first_row_ < first) count_row(first_row_++, -1);
  count_samples();
}

template <typename T>
void Results<T>::count_row(int row, int sign) {
  for (int column = 0; column < mask_.width; ++column)
    cells_[column] += sign * (mask_.at(column, row) == Mask::on);
}

template <typename T>
void Results<T>::count_samples() {
  std::vector<int> before(mask_.width + 1);  // cells in the columns before one
  std::partial_sum(cells_.begin(), cells_.end(), before.begin() + 1);
  const auto one = static_cast<Real<T>>(1);
  std::fill_n(count_, end_ - begin_, before.back());
  std::fill_n(inverse_, end_ - begin_, one / static_cast<Real<T>>(std::max(before.back(), 1)));
  if (!clip_) return;
  for (int x = begin_; x < end_; ++x) {
    const int first = std::max(0, mask_.rx() - x),
              end = std::min(mask_.width, in_.width - x + mask_.rx());
    if (first == 0 && end == mask_.width) {  // so it is up to the right edge
      x = in_.width - mask_.rx() - 1;
      continue;
    }
    const int count = before[end] - before[first];
    count_[x - begin_] = count;
    inverse_[x - begin_] = one / static_cast<Real<T>>(std::max(count, 1));
  }
}

template <typename T>
void Results<T>::write(int x, int n, const std::uint32_t *sums, const Square<T> *squares) {
  const MomentLoops<T> &loops = sums::loops<T>();
  const Sizes<T> sizes = {count_ + (x - begin_), inverse_ + (x - begin_)};
  T *const out = out_.row(y_) + x;
  if (job_.op == SwoFilterOperator::mean) {
    loops.means(sums, sizes, n, job_.shift, out);
  } else if (loops.deviations(sums, squares, sizes, n, job_.shift, out, unsure_)) {
    for (int i = 0; i < n; ++i)
      if (unsure_[i])
        out[i] = static_cast<T>(
            rounded_deviation(sums[i], static_cast<std::uint64_t>(squares[i]), sizes.count[i])
            << job_.shift);
  }
  if (!may_be_empty_) return;
  const T *const in = in_.row(y_) + x;
  for (int i = 0; i < n; ++i)
    if (sizes.count[i] == 0) out[i] = in[i];
}

template class Results<std::uint8_t>;
template class Results<std::uint16_t>;

}  // namespace cudascan::swo::sums
