// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The thresholds themselves, rounded as rounded_threshold() defines it: T in double precision,
/// with an error bound, and the exact integers where T is nearly halfway between two levels.
#pragma once
#include "kernels/nick/decisions.cuh"

namespace cudascan::nick {

/// The root of x, which is 0 or at least 2^-40, with a relative error below 2^-37: a step of
/// Newton's method from an estimate.
__device__ inline double root(double x) {
  const double y = reciprocal_root_approx(x + 0x1p-100), about = x * y;
  return fma(fma(-about, about, x), 0.5 * y, about);
}

/// A polynomial of x, by Horner's method. (An array of the factors would be written to local memory
/// each time.)
template <typename... Factors>
__device__ inline double polynomial(double x, double highest, Factors... factors) {
  double sum = highest;
  ((sum = fma(sum, x, factors)), ...);
  return sum;
}

/// exp(x) for x in -10..0, with a relative error below 2^-41: 2^n times the exponential series of
/// the rest, which is within -0.35..0.35.
__device__ inline double exponential(double x) {
  constexpr double kRound = 0x1.8p52, kLn2 = 0x1.62e42fefa39efp-1, kLog2E = 0x1.71547652b82fep0;
  const double n = x * kLog2E + kRound;  // in its lowest bits
  const double rest = fma(-kLn2, n - kRound, x);
  const double sum =
      polynomial(rest, 1.0 / 39'916'800, 1.0 / 3'628'800, 1.0 / 362'880, 1.0 / 40'320, 1.0 / 5040,
                 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0);
  return __hiloint2double(__double2hiint(sum) + (__double2loint(n) << 20), __double2loint(sum));
}

/// An integer near a real number.
struct Nearest {
  int value;
  double distance;

  __device__ explicit Nearest(double x) {
    constexpr double kRound = 0x1.8p52;  // its sums have no fraction
    const double sum = x + kRound;
    value = __double2loint(sum);
    distance = fabs(x - (sum - kRound));
  }
};

/// The thresholds themselves.
template <typename T, typename SumS, typename SumQ, NickMethod method>
class SurfaceDecision : public ThresholdDecision<T, SumS, SumQ, method> {
  using Base = ThresholdDecision<T, SumS, SumQ, method>;
  using Base::job_;

 public:
  using typename Base::Job;
  using typename Base::Row;
  struct WolfShared {
    typename Base::Shared base;
    SurfaceWeights weights;
  };
  using Shared = std::conditional_t<Base::kWolf, WolfShared, typename Base::Shared>;

  static __device__ void prepare(Shared &, const Job &) {}
  static __device__ void prepare(WolfShared &shared, const Job &job,
                                 const WolfStatistics &statistics) {
    Base::prepare(shared.base, job, statistics);
    shared.weights = SurfaceWeights(shared.base.formula);
  }
  static __device__ void set_column(Shared &, const Job &, int, unsigned) {}

  __device__ SurfaceDecision(const Job &job, const Shared &shared, const Row &row, int y)
      : Base(job, base(shared)),
        weights_(weights(job, shared)),
        out_(static_cast<unsigned char *>(job.out) + y * job.out_stride +
             row.x0 * static_cast<int>(sizeof(T))) {}

  template <bool inner>
  __device__ void set_rows(const Row &row) {
    inverse_ = 1.0 / (row.rows_size.n * (inner ? 1 : row.window_width));
    if constexpr (method == NickMethod::bradley) {
      above_half_ = kAboveHalf * inverse_;
      // Twice the error of T.
      most_ = above_half_ > 3 * 0x1p-50 * job_.formula.maximum ? 0.5 : weights_.sure;
    }
  }
  template <Columns>
  __device__ void start(SumS &) {
    unsure_ = 0;
    levels_ = {};
  }
  template <Columns columns, int j>
  __device__ void column(const Row &row, const WindowSize &size) {
    double inverse = inverse_;
    if constexpr (columns != Columns::inner) {
      inverse = size.inverse;
      inverse = fma(inverse, fma(-static_cast<double>(size.n), inverse, 1.0), inverse);
    }
    bool sure = true, flat = false;
    double t = threshold(Base::sums(row, j), size.n, inverse, sure, flat);
    double most = weights_.sure;
    if constexpr (method == NickMethod::bradley) {
      t += columns == Columns::inner ? above_half_ : kAboveHalf * inverse;
      most = most_;
    } else if constexpr (kMultiples) {
      t += kAboveHalf;
    }
    const Nearest nearest(t);
    if (!sure || !(nearest.distance < most)) unsure_ |= flat && sure ? 0 : 1u << j;
    add_level(j, min(max(nearest.value, 0), static_cast<int>(job_.formula.maximum)));
  }
  template <Columns>
  __device__ bool sure(const Row &) const {
    return !__any_sync(kWholeWarp, unsure_ != 0);
  }
  template <Columns columns>
  __device__ void decide_exactly(const Row &row) {
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      if (!(unsure_ >> j & 1) || (columns != Columns::inner && j >= row.valid)) continue;
      const WindowSums w = Base::template window<columns>(row, j);
      if (w.sum != asked_.sum || w.squares != asked_.squares || w.n != asked_.n) {
        asked_ = w;
        answer_ = static_cast<int>(exact_threshold(w, this->formula()));
      }
      levels_.word[j / kEach] &= ~(kLevel << kBits * (j % kEach));
      add_level(j, answer_);
    }
  }
  template <Columns columns>
  __device__ void store(const Row &row, int y) {
    if (columns == Columns::inner || (job_.store_at_once && row.valid >= kColumns)) {
      windowsums::store_samples(out_, levels_);
    } else {
#pragma unroll
      for (int j = 0; j < kColumns; ++j)
        if (j < row.valid) store_sample(job_, row.x0 + j, y, levels_[j]);
    }
    out_ += job_.out_stride;
  }
  __device__ void finish(const Row &, int, int, unsigned char *) const {}

 private:
  /// In flat areas T is a multiple of 10^-6 with most methods, and Bradley's is always one of
  /// 10^-6 / N. Less than half of such a step is added to T, more than its error: a half is rounded
  /// up, as it should be, and less is not. Otherwise many rows would need exact decisions.
  static constexpr bool kMultiples = method != NickMethod::nick && method != NickMethod::niblack;
  static constexpr double kAboveHalf = 0x1p-22;
  static constexpr int kBits = 8 * sizeof(T), kEach = 4 / sizeof(T);  // levels in a word
  static constexpr unsigned kLevel = (1u << kBits) - 1;

  static __device__ auto &base(auto &shared) {
    if constexpr (Base::kWolf)
      return shared.base;
    else
      return shared;
  }
  /// In constant memory if possible: that takes no registers.
  static __device__ const SurfaceWeights &weights([[maybe_unused]] const Job &job,
                                                  [[maybe_unused]] const Shared &shared) {
    if constexpr (Base::kWolf)
      return shared.weights;
    else
      return job.weights;
  }
  __device__ void add_level(int j, int level) {
    levels_.word[j / kEach] |= static_cast<unsigned>(level) << kBits * (j % kEach);
  }

  /// @param sure  false if the formula's rounding of the exponential is in doubt
  /// @param flat  whether T is a multiple of 10^-6, and as precise as doubles are
  template <typename Sums>
  __device__ double threshold(const Sums &w, unsigned n, double inverse, bool &sure,
                              bool &flat) const {
    const SurfaceWeights &f = weights_;
    const double m = static_cast<double>(w.s) * inverse;
    if constexpr (method == NickMethod::bradley) return fma(-f.k, m, m);
    if constexpr (method == NickMethod::nick)
      return fma(f.k, root(fma(-m, m, squares(w)) * inverse), m);
    const auto variance = scaled_variance(w, n);
    flat = variance == 0;  // the window's samples are equal, and T is one of them times 1 - k
    const double s = root(to_double(variance)) * inverse;
    if constexpr (method == NickMethod::niblack) return fma(f.k, s, m);
    const double relative = fma(f.slope, s, -f.k);  // k (s / unit - 1)
    if constexpr (method == NickMethod::wolf) return fma(relative, m - f.minimum, m);
    if constexpr (method == NickMethod::phansalkar) {
      // As phansalkar_boost() rounds it; the exponential there is off by less than 2^-39.
      const Nearest boost(2 * kKd * exponential(f.boost_exponent * m));
      sure = boost.distance < 0.5 - 0x1p-16;
      return fma(fma(static_cast<double>(boost.value), 1.0 / kKd, relative), m, m);
    }
    return fma(relative, m, m);
  }
  static __device__ double squares(const ByteSums &w) {
    return static_cast<double>(w.f + 127 * static_cast<std::int64_t>(w.s));
  }
  template <typename S, typename Q>
  static __device__ double squares(const WideSums<S, Q> &w) {
    return static_cast<double>(w.q);
  }

  const SurfaceWeights &weights_;
  double inverse_ = 0;                // of N of windows that the image does not clip sideways
  double above_half_ = 0, most_ = 0;  // for Bradley's method
  windowsums::StageSamples<T> levels_;
  unsigned unsure_ = 0;        // a bit for each column that needs the exact decision
  WindowSums asked_{0, 0, 0};  // the latest exact decision; flat areas repeat the same question
  int answer_ = 0;
  unsigned char *out_;
};

}  // namespace cudascan::nick
