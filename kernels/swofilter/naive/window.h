// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The array with the copy of a window, and the operations on it. The CPU and each thread of the
/// GPU run this code; see naive.h.
#pragma once
#include <type_traits>

#include "kernels/swofilter/moments/moments.h"
#include "kernels/swofilter/rank/rank.h"

namespace cudascan::swo {

inline constexpr int kNaiveSide = 15;
inline constexpr int kNaiveRuns = kNaiveSide * ((kNaiveSide + 1) / 2);

/// A job as a kernel parameter. Samples are levels.
template <typename T>
struct NaiveJob {
  Plane<const T> in;
  Plane<T> out;
  SwoFilterBorder border;
  T outside, maximum;
  int shift;  ///< from levels to the samples of the planes
  std::int64_t percentile, alpha;
  bool keeps;         ///< whether a window without samples keeps the pixel
  int width, height;  ///< of the window
  int run_count;
  Run runs[kNaiveRuns];
};
/// Makes it from a job with has_naive().
template <typename T>
NaiveJob<T> make_naive(Plane<const T> in, Plane<T> out, const FilterJob &);

/// Calls f(std::integral_constant<SwoFilterOperator, ...>) with the operator, or with its
/// equivalent; returns whether it has a naive form.
template <typename F>
bool with_naive(SwoFilterOperator op, const F &f) {
  using Op = SwoFilterOperator;
  switch (op) {
    case Op::minimum:
    case Op::erode:
      f(std::integral_constant<Op, Op::minimum>());
      return true;
    case Op::maximum:
    case Op::dilate:
      f(std::integral_constant<Op, Op::maximum>());
      return true;
    case Op::midpoint:
      f(std::integral_constant<Op, Op::midpoint>());
      return true;
    case Op::gradient:
      f(std::integral_constant<Op, Op::gradient>());
      return true;
    case Op::mean:
      f(std::integral_constant<Op, Op::mean>());
      return true;
    case Op::standard_deviation:
      f(std::integral_constant<Op, Op::standard_deviation>());
      return true;
    case Op::median:
    case Op::rank:
      f(std::integral_constant<Op, Op::rank>());
      return true;
    case Op::alpha_trimmed_mean:
      f(std::integral_constant<Op, Op::alpha_trimmed_mean>());
      return true;
    case Op::mode:
      f(std::integral_constant<Op, Op::mode>());
      return true;
    case Op::directional_median:
      f(std::integral_constant<Op, Op::directional_median>());
      return true;
    default:
      return false;
  }
}

/// The samples of a window.
template <typename T>
class NaiveWindow {
 public:
  CUDASCAN_HD NaiveWindow(const NaiveJob<T> &job, int x, int y) : job_(job), x_(x), y_(y) {}

  /// The result at the pixel, a level.
  template <SwoFilterOperator op>
  CUDASCAN_HD unsigned result() {
    using Op = SwoFilterOperator;
    if constexpr (op == Op::directional_median) {
      return directional_median();
    } else {
      copy_window();
      if (n_ == 0) return of_nothing<op>();
      if constexpr (op == Op::minimum) return minimum();
      if constexpr (op == Op::maximum) return maximum();
      if constexpr (op == Op::midpoint) return (minimum() + maximum() + 1) / 2;
      if constexpr (op == Op::gradient) return maximum() - minimum();
      if constexpr (op == Op::mean) return mean(0, n_);
      if constexpr (op == Op::standard_deviation) return deviation();
      if constexpr (op == Op::rank) return rank(job_.percentile);
      if constexpr (op == Op::alpha_trimmed_mean) return trimmed_mean();
      if constexpr (op == Op::mode) return mode();
    }
  }

 private:
  /// Appends the sample at an offset from the pixel, if there is one.
  CUDASCAN_HD void copy(int dx, int dy) {
    const int x = resolve(x_ + dx, job_.in.width, job_.border);
    const int y = resolve(y_ + dy, job_.in.height, job_.border);
    if (x >= 0 && y >= 0)
      samples_[n_++] = static_cast<T>(job_.in.row(y)[x] >> job_.shift);
    else if (job_.border == SwoFilterBorder::constant)
      samples_[n_++] = job_.outside;
  }
  CUDASCAN_HD void copy_window() {
    for (int i = 0; i < job_.run_count; ++i)
      for (int dx = job_.runs[i].first; dx <= job_.runs[i].last; ++dx) copy(dx, job_.runs[i].y);
  }
  CUDASCAN_HD unsigned middle() const { return job_.in.row(y_)[x_] >> job_.shift; }

  template <SwoFilterOperator op>
  CUDASCAN_HD unsigned of_nothing() const {
    if (job_.keeps) return middle();
    return op == SwoFilterOperator::minimum ? job_.maximum : 0;
  }

  CUDASCAN_HD unsigned minimum() const {
    unsigned least = samples_[0];
    for (int i = 1; i < n_; ++i) least = samples_[i] < least ? samples_[i] : least;
    return least;
  }
  CUDASCAN_HD unsigned maximum() const {
    unsigned most = samples_[0];
    for (int i = 1; i < n_; ++i) most = samples_[i] > most ? samples_[i] : most;
    return most;
  }
  CUDASCAN_HD unsigned mean(int begin, int end) const {
    std::uint32_t sum = 0;
    for (int i = begin; i < end; ++i) sum += samples_[i];
    return rounded_mean(sum, end - begin);
  }
  CUDASCAN_HD unsigned deviation() const {
    std::uint64_t sum = 0, squares = 0;
    for (int i = 0; i < n_; ++i) {
      sum += samples_[i];
      squares += std::uint64_t{samples_[i]} * samples_[i];
    }
    return rounded_deviation(sum, squares, n_);
  }

  /// The exchange sort of the paper's Table 3.
  CUDASCAN_HD void sort() {
    for (int m = 0; m < n_; ++m)
      for (int t = m + 1; t < n_; ++t)
        if (samples_[m] > samples_[t]) {
          const T least = samples_[t];
          samples_[t] = samples_[m];
          samples_[m] = least;
        }
  }
  CUDASCAN_HD unsigned rank(std::int64_t percentile) {
    sort();
    return samples_[rank_of(n_, percentile)];
  }
  CUDASCAN_HD unsigned trimmed_mean() {
    sort();
    const int t = trimmed(n_, job_.alpha);
    return mean(t, n_ - t);
  }
  CUDASCAN_HD unsigned mode() {
    sort();
    unsigned most_frequent = samples_[0];
    for (int i = 0, longest = 0; i < n_;) {
      const int begin = i;
      while (i < n_ && samples_[i] == samples_[begin]) ++i;
      if (i - begin > longest) {
        longest = i - begin;
        most_frequent = samples_[begin];
      }
    }
    return most_frequent;
  }

  /// The median of the samples on a line through the pixel; it is one of them.
  CUDASCAN_HD unsigned line_median(int reach, int dx, int dy) {
    n_ = 0;
    for (int i = -reach; i <= reach; ++i) copy(i * dx, i * dy);
    return rank(500'000);
  }
  CUDASCAN_HD unsigned directional_median() {
    const int rx = job_.width / 2, ry = job_.height / 2, diagonal = rx < ry ? rx : ry;
    unsigned least = line_median(rx, 1, 0), most = least;
    const unsigned others[] = {line_median(ry, 0, 1), line_median(diagonal, 1, 1),
                               line_median(diagonal, 1, -1)};
    for (const unsigned median : others) {
      least = median < least ? median : least;
      most = median > most ? median : most;
    }
    const unsigned sample = middle();
    return sample < least ? least : sample > most ? most : sample;
  }

  const NaiveJob<T> &job_;
  int x_, y_;
  int n_ = 0;
  T samples_[kNaiveSide * kNaiveSide];
};

}  // namespace cudascan::swo
