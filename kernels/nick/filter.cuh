// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The decision of the local thresholds in single precision, with an error bound.
#pragma once
#include <cmath>
#include <cstdint>

#include "kernels/base/ptx.cuh"
#include "kernels/nick/formula.h"
#include "kernels/windowsums/window_size.cuh"

namespace cudascan::nick {

using windowsums::WindowSize;

/// The decision in single precision. It is correct if |(T - p) N| exceeds the tolerance.
///
/// Every step has a relative error of at most 2^-22, and the largest term is at most N max (1 + |k|
/// (1 + max/r)). The tolerance is at least eight times their product. That also covers the only
/// difference of large terms, in root_of_squares() of bytes: with the mean m, these are at most N
/// (127 m + Q / N), so sqrt(N) times the root is off by less than 2^-24 N (191 + 255).
///
/// Where samples are small, it is correct if |(T - p) N| exceeds `relative` (p N + S), too. The
/// terms are at most p N + S times (1 + |k| (1 + max/r)); only the roots of Niblack and NICK are
/// larger, but then (T - p) N is about as large. The root of bytes has the largest error: Q is at
/// least S, and S^2 / N^2 at most Q / N, so for N > 1 it is off by at most 2^-15 of itself, less
/// than 16 times the tolerance.
///
/// Wolf's method has a tolerance relative to e = (m - min) N, so that areas that are nearly as dark
/// as the darkest sample leave no doubt: see wolf_excess().
struct Filter {
  float k, k_over_r, boost_exponent, minimum, tolerance, relative;

  Filter() = default;
  CUDASCAN_HD explicit Filter(const Formula &f) {
    const auto maximum = static_cast<float>(f.maximum > 255 ? f.maximum : 255);
    float deviation = maximum;  // unit of s
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
    relative = 32 * tolerance / maximum;
    if (f.method == NickMethod::wolf) {
      tolerance = fabsf(k) * 0x1p-18f + 0x1p-21f;
      relative = maximum;  // never exceeded
    }
  }
};

CUDASCAN_HD inline double to_double(std::uint64_t v) {
  return static_cast<double>(v);
}
CUDASCAN_HD inline double to_double(u128 v) {
  return static_cast<double>(static_cast<std::uint64_t>(v >> 64)) * 0x1p64 +
         static_cast<double>(static_cast<std::uint64_t>(v));
}

/// Numbers in double precision for T.
struct SurfaceWeights {
  double k, slope;  ///< k over the unit of s
  double minimum, boost_exponent;
  double sure;  ///< T less far from an integer is rounded to that one

  SurfaceWeights() = default;
  /// Each step has a relative error below 2^-36; the largest term is at most max (1 + |k| (1 + s /
  /// unit of s) + 2), where s is at most max.
  CUDASCAN_HD explicit SurfaceWeights(const Formula &f) {
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
    sure = 0.5 - 0x1p-19 - maximum * (3 + fabs(k) * (1 + (k == 0 ? 0 : most / unit))) * 0x1p-34;
  }
};

/// The sums of a window of 8-bit samples in 32 bits, with f the sum of p^2 - 127 p, which may be
/// negative.
struct ByteSums {
  unsigned s;
  int f;
};
/// The sums of a window, with q the sum of p^2.
template <typename SumS, typename SumQ>
struct WideSums {
  SumS s;
  SumQ q;
};

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

/// Converting 64 bits is slow.
__device__ inline float to_float(std::uint32_t v) {
  return v;
}
__device__ inline float to_float(std::uint64_t v) {
  return fmaf(static_cast<float>(static_cast<std::uint32_t>(v >> 32)), 0x1p32f,
              static_cast<float>(static_cast<std::uint32_t>(v)));
}
__device__ inline float to_float(u128 v) {
  return fmaf(to_float(static_cast<std::uint64_t>(v >> 64)), 0x1p64f,
              to_float(static_cast<std::uint64_t>(v)));
}

/// An estimate of s N. The variance is computed exactly, or about the rounded mean, so that no
/// large numbers cancel in single precision.
__device__ inline float deviation(ByteSums w, const WindowSize &size) {
  const std::int64_t v = std::int64_t{w.f} * static_cast<int>(size.n) +
                         std::int64_t{static_cast<int>(w.s)} * static_cast<int>(127 * size.n - w.s);
  return sqrt_approx(to_float(static_cast<std::uint64_t>(v)));
}
template <typename SumS, typename SumQ>
__device__ inline float deviation(WideSums<SumS, SumQ> w, const WindowSize &size) {
  const auto mean = static_cast<std::uint32_t>(fmaf(to_float(w.s), size.inverse, 0.5f));
  const auto rest = static_cast<std::int64_t>(w.s - std::uint64_t{mean} * size.n);
  const std::uint64_t about = w.q - mean * (static_cast<std::uint64_t>(w.s) + rest);
  const auto rest_f = static_cast<float>(rest);
  return sqrt_approx(fmaxf(fmaf(to_float(about), size.nf, -rest_f * rest_f), 0));
}

/// An estimate of sqrt(Q - S^2 / N^2); NICK divides it by the root of N.
__device__ inline float root_of_squares(ByteSums w, float sf, const WindowSize &size) {
  // Q - (S / N)^2 = f + S (127 - S / N^2)
  const float factor = fmaf(sf, -size.inverse_square, 127.0f);
  return sqrt_approx(fmaf(sf, factor, static_cast<float>(w.f)));
}
template <typename SumS, typename SumQ>
__device__ inline float root_of_squares(WideSums<SumS, SumQ> w, float sf, const WindowSize &size) {
  const float mean = sf * size.inverse;
  return sqrt_approx(fmaf(-mean, mean, to_float(w.q)));
}

/// Wolf's (T - p) N = (e - q N) + k (s / max s - 1) e with e = S - N min and q = p - min, negative
/// if the pixel is above T.
struct WolfExcess {
  float u, e;

  /// The relative error of s / max s, which is at most 1, is below 2^-20. That of e is 2^-24, and
  /// none of q N: a product has no error before it is added.
  __device__ WolfExcess(float spread, float e, float rest, const WindowSize &size, const Filter &f)
      : u(fmaf(fmaf(f.k_over_r, spread * size.inverse, -f.k), e, rest)), e(e) {}
  /// Whether u may have the wrong sign. If e is 0, u is exact, and it is +0 if q is 0, too.
  __device__ bool near(const Filter &f) const { return fabsf(u) < f.tolerance * e; }
};
/// All sums are below 2^24.
__device__ inline WolfExcess wolf_excess(ByteSums w, float p_scaled, float /*scale*/,
                                         const WindowSize &size, const Filter &f) {
  const auto sf = static_cast<float>(w.s);
  return {deviation(w, size), fmaf(-size.nf, f.minimum, sf), fmaf(-p_scaled, size.scaled, sf), size,
          f};
}
/// @param scale  of p_scaled
template <typename SumS, typename SumQ>
__device__ inline WolfExcess wolf_excess(WideSums<SumS, SumQ> w, float p_scaled, float scale,
                                         const WindowSize &size, const Filter &f) {
  const auto minimum = static_cast<unsigned>(f.minimum);
  const float e = to_float(w.s - SumS{minimum} * size.n);
  const float q_scaled = fmaf(-f.minimum, 1 / scale, p_scaled);
  float spread;
  if constexpr (sizeof(SumS) == 4)
    spread = sqrt_approx(to_float(scaled_variance(w, size.n)));
  else
    spread = deviation(w, size);
  return {spread, e, fmaf(-q_scaled, size.scaled, e), size, f};
}

/// An estimate of (T - p) N; it is negative if the pixel is above T. p_scaled size.scaled is p N;
/// the weight of the size is k.
template <NickMethod method, typename Sums>
__device__ inline float excess(Sums w, float p_scaled, const WindowSize &size, const Filter &f) {
  const float sf = to_float(w.s);
  const float d = fmaf(p_scaled, size.scaled, -sf);  // (p - m) N
  if constexpr (method == NickMethod::bradley) return fmaf(-f.k, sf, -d);
  if constexpr (method == NickMethod::nick)
    return fmaf(size.weighted_root, root_of_squares(w, sf, size), -d);
  const float spread = deviation(w, size);
  if constexpr (method == NickMethod::niblack) return fmaf(f.k, spread, -d);
  const float relative = fmaf(f.k_over_r, spread * size.inverse, -f.k);  // k (s / r - 1)
  if constexpr (method == NickMethod::phansalkar)
    return fmaf(fmaf(2.0f, exp2_approx(sf * size.inverse * f.boost_exponent), relative), sf, -d);
  return fmaf(relative, sf, -d);
}

}  // namespace cudascan::nick
