// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The decision of the local thresholds in single precision, with a bound that says when to trust it.
#pragma once
#include <cstdint>
#include <type_traits>

#include "kernels/nick_formula.h"

namespace cudascan::nick {

__device__ inline float sqrt_approx(float x) {
  float y;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ inline float exp2_approx(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

__device__ inline float reciprocal_approx(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// The decision in single precision, right wherever |(T - p) N| exceeds the tolerance.
///
/// Every step has a relative error of at most 2^-22, the largest term is at most N max (1 + |k| (1 + max/r));
/// the tolerance is eight times that and more.
struct Filter {
  float k, k_over_r, boost_exponent, minimum, tolerance;

  Filter() = default;
  CUDASCAN_HD explicit Filter(const Formula &f) {
    const auto maximum = static_cast<float>(f.maximum > 255 ? f.maximum : 255);
    float deviation = maximum;  // of which s is a share
    if (f.method == NickMethod::sauvola || f.method == NickMethod::phansalkar)
      deviation = static_cast<float>(f.rn) / kRd;
    if (f.method == NickMethod::wolf)
      deviation = fmaxf(sqrtf(static_cast<float>(f.busiest.v())) / f.busiest.n, 1e-6f);
    k = static_cast<float>(f.kn) / kKd;
    k_over_r = k / deviation;
    boost_exponent = -10 * 1.44269504f / f.maximum;
    minimum = f.minimum;
    tolerance = maximum * (1 + fabsf(k) * (1 + maximum / deviation)) * 2e-6f +
                (f.method == NickMethod::phansalkar ? maximum * 8e-6f : 0);
  }
};

/// s N, about. The variance is taken exactly, or about the rounded mean, so that no large numbers
/// cancel in single precision.
template <typename SumS, typename SumQ>
__device__ inline float deviation(SumS s, SumQ q, unsigned n, float nf, float inverse_n) {
  if constexpr (sizeof(SumS) == 4 && sizeof(SumQ) == 4) {
    return sqrt_approx(static_cast<float>(std::uint64_t{q} * n - std::uint64_t{s} * s));
  } else {
    const auto mean = static_cast<std::uint32_t>(fmaf(static_cast<float>(s), inverse_n, 0.5f));
    const auto rest = static_cast<std::int64_t>(s - std::uint64_t{mean} * n);
    const std::uint64_t about = q - mean * (static_cast<std::uint64_t>(s) + rest);
    const auto rest_f = static_cast<float>(rest);
    return sqrt_approx(fmaxf(fmaf(static_cast<float>(about), nf, -rest_f * rest_f), 0));
  }
}

/// (T - p) N, about: negative where the pixel is above T. pf is p.
template <NickMethod method, typename SumS, typename SumQ>
__device__ inline float excess(SumS s, SumQ q, unsigned p, float pf, unsigned n, float nf,
                               float inverse_n, const Filter &f) {
  const auto sf = static_cast<float>(s);
  float d;  // (p - m) N
  if constexpr (sizeof(SumS) == 4 && sizeof(SumQ) == 4)
    d = fmaf(pf, nf, -sf);
  else
    d = static_cast<float>(static_cast<std::int64_t>(std::uint64_t{p} * n - s));
  if constexpr (method == NickMethod::bradley) return fmaf(-f.k, sf, -d);
  if constexpr (method == NickMethod::nick) {
    const auto qf = static_cast<float>(q);
    return fmaf(f.k, sqrt_approx(fmaf(qf, nf, -(sf * inverse_n) * sf)), -d);
  }
  const float spread = deviation(s, q, n, nf, inverse_n);
  if constexpr (method == NickMethod::niblack) return fmaf(f.k, spread, -d);
  const float relative = fmaf(f.k_over_r, spread * inverse_n, -f.k);  // k (s / r - 1)
  if constexpr (method == NickMethod::wolf) return fmaf(relative, fmaf(-nf, f.minimum, sf), -d);
  if constexpr (method == NickMethod::phansalkar)
    return fmaf(fmaf(2.0f, exp2_approx(sf * inverse_n * f.boost_exponent), relative), sf, -d);
  return fmaf(relative, sf, -d);
}

}  // namespace cudascan::nick
