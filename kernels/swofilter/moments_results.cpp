// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>

#include "kernels/swofilter/moments.h"
#include "kernels/swofilter/moments_cpu.h"

namespace cudascan::swo::sums {

template <typename T>
Results<T>::Results(Plane<const T> in, Plane<T> out, const Job &job, Scratch &scratch)
    : in_(in),
      out_(out),
      job_(job),
      may_be_empty_(job.border == SwoFilterBorder::clip &&
                    job.mask().at(job.mask().rx(), job.mask().ry()) != Mask::on),
      count_(scratch.take<std::int32_t>(in.width)),
      inverse_(scratch.take<Real<T>>(in.width)),
      unsure_(scratch.take<std::uint8_t>(kBlock)) {}

template <typename T>
void Results<T>::begin_row(int y) {
  y_ = y;
  const Mask &mask = job_.mask();
  const bool clip = job_.border == SwoFilterBorder::clip;
  const int first = clip ? std::max(0, mask.ry() - y) : 0,
            end = clip ? std::min(mask.height, in_.height - y + mask.ry()) : mask.height;
  if (first != first_row_ || end != end_row_) count_samples(first, end);
  first_row_ = first;
  end_row_ = end;
}

template <typename T>
void Results<T>::count_samples(int first_row, int end_row) {
  const Mask &mask = job_.mask();
  std::vector<int> before(mask.width + 1);  // cells in the columns before one
  if (mask.rectangle)
    std::fill(before.begin() + 1, before.end(), end_row - first_row);
  else
    for (int row = first_row; row < end_row; ++row)
      for (int column = 0; column < mask.width; ++column)
        before[column + 1] += mask.at(column, row) == Mask::on;
  for (int column = 0; column < mask.width; ++column) before[column + 1] += before[column];
  const int all = before[mask.width];
  const auto one = static_cast<Real<T>>(1);
  std::fill_n(count_, in_.width, all);
  std::fill_n(inverse_, in_.width, one / static_cast<Real<T>>(all));
  if (job_.border != SwoFilterBorder::clip) return;
  for (int x = 0; x < in_.width; ++x) {
    const int first = std::max(0, mask.rx() - x),
              end = std::min(mask.width, in_.width - x + mask.rx());
    if (first == 0 && end == mask.width) {  // so it is up to the right edge
      x = in_.width - mask.rx() - 1;
      continue;
    }
    count_[x] = before[end] - before[first];
    inverse_[x] = one / static_cast<Real<T>>(std::max(count_[x], 1));
  }
}

template <typename T>
void Results<T>::write(int x, int n, const std::uint32_t *sums, const Square<T> *squares) {
  const Loops<T> &loops = sums::loops<T>();
  const Sizes<T> sizes = {count_ + x, inverse_ + x};
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
