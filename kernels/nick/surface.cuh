// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The thresholds themselves, rounded as rounded_threshold() defines it: T in double precision,
/// with an error bound, and the exact integers where T is nearly halfway between two levels.
#pragma once
#include "kernels/nick/decisions.cuh"

namespace cudascan::nick {

/// N^2 times the variance.
__device__ inline std::uint64_t scaled_variance(ByteSums w, unsigned n) {
  return static_cast<std::uint64_t>(
      add_product(std::int64_t{static_cast<int>(w.s)} * static_cast<int>(127 * n - w.s),
                  static_cast<int>(n), w.f));
}
template <typename SumQ>
__device__ inline std::uint64_t scaled_variance(WideSums<std::uint32_t, SumQ> w, unsigned n) {
  return w.q * n - std::uint64_t{w.s} * w.s;
}
__device__ inline u128 scaled_variance(WideSums<std::uint64_t, std::uint64_t> w, unsigned n) {
  return u128{w.q} * n - u128{w.s} * w.s;
}

__device__ inline double to_double(std::uint64_t v) {
  return static_cast<double>(v);
}
__device__ inline double to_double(u128 v) {
  return static_cast<double>(static_cast<std::uint64_t>(v >> 64)) * 0x1p64 +
         static_cast<double>(static_cast<std::uint64_t>(v));
}

/// The root of x, which is 0 or at least 2^-40, with a relative error below 2^-37: a step of
/// Newton's method from an estimate.
__device__ inline double root(double x) {
  const double y = reciprocal_root_approx(x + 0x1p-100), about = x * y;
  return fma(fma(-about, about, x), 0.5 * y, about);
}

/// exp(x) for x in -10..0, with a relative error below 2^-41: 2^n times the exponential series of
/// the rest, which is within -0.35..0.35.
__device__ inline double exponential(double x) {
  constexpr double kRound = 0x1.8p52, kLn2 = 0x1.62e42fefa39efp-1, kLog2E = 0x1.71547652b82fep0;
  const double n = x * kLog2E + kRound;  // in its lowest bits
  const double rest = fma(-kLn2, n - kRound, x);
  double sum = 1.0 / 39'916'800;
  constexpr double kFactors[] = {
      1.0 / 3'628'800, 1.0 / 362'880, 1.0 / 40'320, 1.0 / 5040, 1.0 / 720, 1.0 / 120,
      1.0 / 24,        1.0 / 6,       0.5,          1.0,        1.0};
#pragma unroll
  for (const double factor : kFactors) sum = fma(sum, rest, factor);
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

/// Numbers in double precision for T.
struct SurfaceWeights {
  double k, slope;  ///< k over the unit of s
  double minimum, boost_exponent;
  double sure;  ///< T less far from an integer is rounded to that one

  SurfaceWeights() = default;
  /// Each step has a relative error below 2^-36; the largest term is at most max (1 + |k| (1 + s /
  /// unit of s) + 2), where s is at most max.
  __device__ explicit SurfaceWeights(const Formula &f) {
    const double maximum = f.maximum;
    double unit = maximum;
    if (f.method == NickMethod::sauvola || f.method == NickMethod::phansalkar)
      unit = static_cast<double>(f.rn) / kRd;
    k = static_cast<double>(f.kn) / kKd;
    double most = maximum;  // s
    if (f.method == NickMethod::wolf) {
      most = unit = sqrt(to_double(f.busiest.v())) / f.busiest.n;
      if (most == 0) k = 0;  // every window is constant: T = m
    }
    slope = k == 0 ? 0 : k / unit;
    minimum = f.minimum;
    boost_exponent = -10 / maximum;
    sure = 0.5 - 0x1p-20 - maximum * (3 + fabs(k) * (1 + (k == 0 ? 0 : most / unit))) * 0x1p-34;
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
  struct Shared {
    typename Base::Shared base;
    SurfaceWeights weights;
  };

  static __device__ void prepare(Shared &shared, const Job &job) {
    Base::prepare(shared.base, job);
    if constexpr (Base::kWolf)
      shared.weights = SurfaceWeights(shared.base.formula);
    else
      shared.weights = SurfaceWeights(job.formula);
  }
  static __device__ void set_column(Shared &, const Job &, int, unsigned) {}

  __device__ SurfaceDecision(const Job &job, const Shared &shared, const Row &row, int y)
      : Base(job, shared.base),
        weights_(shared.weights),
        out_(static_cast<unsigned char *>(job.out) + y * job.out_stride +
             row.x0 * static_cast<int>(sizeof(T))) {}

  template <bool inner>
  __device__ void set_rows(const Row &row) {
    if constexpr (inner) inverse_ = 1.0 / row.rows_size.n;
  }
  template <Columns>
  __device__ void start(SumS &) {
    unsure_ = 0;
  }
  template <Columns columns, int j>
  __device__ void column(const Row &row, const WindowSize &size) {
    double inverse = inverse_;
    if constexpr (columns != Columns::inner) {
      inverse = size.inverse;
      inverse = fma(inverse, fma(-static_cast<double>(size.n), inverse, 1.0), inverse);
    }
    bool sure = true;
    const Nearest nearest(threshold(Base::sums(row, j), size.n, inverse, sure));
    if (!sure || !(nearest.distance < weights_.sure)) unsure_ |= 1u << j;
    level_[j] = min(max(nearest.value, 0), static_cast<int>(job_.formula.maximum));
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
      level_[j] = answer_;
    }
  }
  template <Columns columns>
  __device__ void store(const Row &row, int y) {
    if (columns == Columns::inner || (job_.store_at_once && row.valid >= kColumns)) {
      windowsums::StageSamples<T> packed;
      constexpr int kEach = 4 / sizeof(T);
#pragma unroll
      for (int k = 0; k < windowsums::StageSamples<T>::kWords; ++k) {
        packed.word[k] = 0;
#pragma unroll
        for (int i = 0; i < kEach; ++i)
          packed.word[k] |= static_cast<unsigned>(level_[k * kEach + i]) << 8 * sizeof(T) * i;
      }
      windowsums::store_samples(out_, packed);
    } else {
#pragma unroll
      for (int j = 0; j < kColumns; ++j)
        if (j < row.valid) store_sample(job_, row.x0 + j, y, level_[j]);
    }
    out_ += job_.out_stride;
  }
  __device__ void finish(const Row &, int, int, unsigned char *) const {}

 private:
  /// @param sure  false if the formula's rounding of the exponential is in doubt
  template <typename Sums>
  __device__ double threshold(const Sums &w, unsigned n, double inverse, bool &sure) const {
    const SurfaceWeights &f = weights_;
    const double m = static_cast<double>(w.s) * inverse;
    if constexpr (method == NickMethod::bradley) return fma(-f.k, m, m);
    if constexpr (method == NickMethod::nick)
      return fma(f.k, root(fma(-m, m, squares(w)) * inverse), m);
    const double s = root(to_double(scaled_variance(w, n))) * inverse;
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
  double inverse_ = 0;  // of N, in inner tiles
  int level_[kColumns];
  unsigned unsure_ = 0;        // a bit for each column that needs the exact decision
  WindowSums asked_{0, 0, 0};  // the latest exact decision; flat areas repeat the same question
  int answer_ = 0;
  unsigned char *out_;
};

}  // namespace cudascan::nick
