// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The decision that the CPU and CUDA implementations of the local thresholds share: is a pixel
/// above T? It is exact, in integers; see nick.h for the formulas. The implementations decide most
/// pixels faster, in single precision with an error bound, and use this for the others.
///
/// Notation: S = sum p, Q = sum p^2, N = number of pixels, V = Q N - S^2 = (N s)^2. With k = kn/kd
/// (kd = 10^6) and r = rn/rd (rd = 10^3), p > T is X > Y sqrt(Z) with integers X, Y, Z; each side
/// is squared and written as a product of two numbers below 2^128. The widths in the comments are
/// for 16-bit samples and windows of 1023 x 1023: N < 2^20, S < 2^36, Q < 2^52, V < 2^72.
#pragma once
#include <cstdint>
#include <cstring>

#include "common/api.h"
#include "kernels/base/refuse.h"
#include "kernels/nick.h"

namespace cudascan::nick {

using u128 = unsigned __int128;

inline constexpr std::int64_t kKd = 1'000'000;
inline constexpr std::int64_t kRd = 1'000;

/// The pixels of one window.
struct WindowSums {
  std::uint64_t sum;      ///< S
  std::uint64_t squares;  ///< Q
  std::uint32_t n;        ///< N

  CUDASCAN_HD u128 v() const { return u128{squares} * n - u128{sum} * sum; }
};

/// The standard deviation of a window, as V and N.
struct Spread {
  std::uint64_t low, high;  ///< of V
  std::uint32_t n;

  Spread() = default;
  CUDASCAN_HD Spread(u128 v, std::uint32_t n)
      : low(static_cast<std::uint64_t>(v)), high(static_cast<std::uint64_t>(v >> 64)), n(n) {}
  CUDASCAN_HD Spread(const WindowSums &w) : Spread(w.v(), w.n) {}
  CUDASCAN_HD u128 v() const { return u128{high} << 64 | low; }
};

/// Parameters of the decision besides the window, the same for a whole image.
struct Formula {
  NickMethod method;
  std::int64_t kn;        ///< k in units of 1/kKd, |kn| <= 2 * 10^6
  std::int64_t rn;        ///< r in units of 1/kRd levels of the image, < 2^29
  std::uint32_t maximum;  ///< largest sample of the format
  std::uint32_t minimum;  ///< wolf: smallest sample of the image
  Spread busiest;         ///< wolf: the largest standard deviation of a window
};

/// a * b as two halves.
struct Product {
  u128 high, low;

  CUDASCAN_HD Product(u128 a, u128 b) {
    constexpr u128 mask = ~std::uint64_t{0};
    const u128 a0 = a & mask, a1 = a >> 64, b0 = b & mask, b1 = b >> 64;
    const u128 p00 = a0 * b0, p01 = a0 * b1, p10 = a1 * b0;
    const u128 middle = (p00 >> 64) + (p01 & mask) + (p10 & mask);
    low = (middle << 64) | (p00 & mask);
    high = a1 * b1 + (p01 >> 64) + (p10 >> 64) + (middle >> 64);
  }
  CUDASCAN_HD bool operator>(const Product &other) const {
    return high != other.high ? high > other.high : low > other.low;
  }
};

CUDASCAN_HD inline u128 magnitude(std::int64_t x) {
  return x < 0 ? -static_cast<u128>(x) : static_cast<u128>(x);
}
CUDASCAN_HD inline int sign(std::int64_t x) {
  return (x > 0) - (x < 0);
}

/// Whether X > Y, given the signs of both and their squares.
CUDASCAN_HD inline bool greater(int sign_x, const Product &xx, int sign_y, const Product &yy) {
  if (sign_x != sign_y) return sign_x > sign_y;
  return sign_x > 0 ? xx > yy : sign_x < 0 && yy > xx;
}

/// exp(x) for x in -10..0, computed in a fixed order of operations that IEEE 754 rounds correctly,
/// so that it has the same bits everywhere: exp(x) = exp(x / 1024)^1024, by a Taylor polynomial and
/// ten squarings. The relative error is below 1e-12.
CUDASCAN_HD inline double exp_ieee(double x) {
  const double t = x * 0x1p-10;
  double sum = 1.0;
  for (int i = 8; i >= 1; --i) sum = 1.0 + sum * t / i;
  for (int i = 0; i < 10; ++i) sum *= sum;
  return sum;
}

/// Phansalkar's p exp(-q m / max) with p = 2, q = 10, in units of 1/kKd.
CUDASCAN_HD inline std::int64_t phansalkar_boost(const WindowSums &w, std::uint32_t maximum) {
  const double mean = static_cast<double>(w.sum) / (static_cast<double>(w.n) * maximum);
  return static_cast<std::int64_t>(2.0 * exp_ieee(-10.0 * mean) * kKd + 0.5);
}

/// Whether p2 / 2 > T. p2 is twice the sample, so that this can also decide the rounding of T.
CUDASCAN_HD inline bool above(std::int64_t p2, const WindowSums &w, const Formula &f) {
  const std::int64_t n = w.n;
  const auto sum = static_cast<std::int64_t>(w.sum);
  const std::int64_t d = p2 * n - 2 * sum;  // 2 N (p - m), 38 bits
  switch (f.method) {
    case NickMethod::nick: {  // kd d > 2 kn sqrt((Q N^2 - S^2) / N)
      const u128 xx = magnitude(kKd * d) * magnitude(kKd * d);
      const u128 radicand = u128{w.squares} * (u128{w.n} * w.n) - u128{w.sum} * w.sum;
      const int sign_y = radicand ? sign(f.kn) : 0;
      return greater(sign(d), Product(xx, w.n), sign_y,
                     Product(4 * magnitude(f.kn) * magnitude(f.kn), radicand));
    }
    case NickMethod::niblack: {  // kd d > 2 kn sqrt(V)
      const u128 xx = magnitude(kKd * d) * magnitude(kKd * d);
      const int sign_y = w.v() ? sign(f.kn) : 0;
      return greater(sign(d), Product(xx, 1), sign_y,
                     Product(4 * magnitude(f.kn) * magnitude(f.kn), w.v()));
    }
    case NickMethod::bradley:  // kd N p > (kd - kn) S
      return kKd * n * p2 > 2 * (kKd - f.kn) * sum;
    case NickMethod::sauvola:
    case NickMethod::
        phansalkar: {  // a N rn > 2 kn rd S sqrt(V), a = 2 kd N (p - m (1 - k + boost))
      const std::int64_t boost =
          f.method == NickMethod::phansalkar ? phansalkar_boost(w, f.maximum) : 0;
      const std::int64_t a = kKd * n * p2 - 2 * (kKd - f.kn + boost) * sum;
      const u128 x = magnitude(a) * (u128{w.n} * static_cast<std::uint64_t>(f.rn));
      const u128 y = 2 * magnitude(f.kn) * w.sum;
      const int sign_y = w.v() && w.sum ? sign(f.kn) : 0;
      return greater(sign(a), Product(x, x), sign_y, Product(y * y, u128{kRd * kRd} * w.v()));
    }
    case NickMethod::
        wolf: {  // a N sqrt(Vmax) > 2 kn e Nmax sqrt(V), e = N (m - min), a = kd d + 2 kn e
      const std::int64_t e = sum - n * f.minimum;
      const std::int64_t a = kKd * d + 2 * f.kn * e;
      const u128 v_max = f.busiest.v();
      if (v_max == 0) return d > 0;  // every window is constant: T = m
      const u128 y = 2 * magnitude(f.kn) * magnitude(e);
      const int sign_y = w.v() && e ? sign(f.kn) : 0;
      return greater(sign(a), Product(magnitude(a) * magnitude(a), u128{w.n} * w.n * v_max), sign_y,
                     Product(y * y, u128{f.busiest.n} * f.busiest.n * w.v()));
    }
  }
  return false;
}

/// T rounded to the nearest integer, halves up, and limited to 0..maximum, from an estimate of T
/// that is off by less than 2^-20. Exact decisions are needed only near a half.
CUDASCAN_HD inline std::uint32_t rounded_threshold(double estimate, const WindowSums &w,
                                                   const Formula &f) {
  const double limit = f.maximum;
  const double up = (estimate > 0 ? (estimate < limit ? estimate : limit) : 0) + 0.5;
  auto t = static_cast<std::int64_t>(up);
  const double rest = up - static_cast<double>(t);
  if (rest > 0x1p-20 && rest < 1 - 0x1p-20) return static_cast<std::uint32_t>(t);
  // t is right if t - 1/2 <= T < t + 1/2.
  while (t > 0 && above(2 * t - 1, w, f)) --t;
  while (t < f.maximum && !above(2 * t + 1, w, f)) ++t;
  return static_cast<std::uint32_t>(t);
}

/// Whether the standard deviation of a window is larger than that of another.
CUDASCAN_HD inline bool busier(const Spread &a, const Spread &b) {
  // V_a / N_a^2 > V_b / N_b^2
  return a.v() * (u128{b.n} * b.n) > b.v() * (u128{a.n} * a.n);
}

/// The decision for one image. For wolf the caller adds the statistics of the image.
Formula make_formula(const NickParams &params, std::uint32_t maximum);

/// The sides of the window.
inline int window_width(const NickParams &p) {
  return p.window_width ? p.window_width : p.window;
}
inline int window_height(const NickParams &p) {
  return p.window_height ? p.window_height : p.window;
}

/// Throws BadSetting unless validate() accepts the parameters and the planes match.
template <typename T, typename Out>
void check_call(const NickParams &params, Plane<const T> in, Plane<Out> out) {
  validate(params);
  check_planes(in, out);
  if (params.output == NickOutput::threshold && sizeof(T) != sizeof(Out))
    refuse("output = threshold: the output format must have the depth of the input format");
}

}  // namespace cudascan::nick
