// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// exp, log, pow, sin, cos, tan, atan and atan2 for gswo/library.h, which includes this file. All
/// are computed in double: a reduction of the argument as in Muller, "Elementary functions", 3rd
/// edition, 2016, chapter 11, and a polynomial or a series that is cut below 1e-14.
///
/// They have no branches, divisions in series, or conversions to whole numbers, so that compilers
/// can compute several pixels at once. Only pow has some, for exponents that are not constants.
#pragma once

namespace gswo::detail {

constexpr double kLn2 = 0.693147180559945309417232121458;
constexpr double kPi = 3.14159265358979323846264338328;
/// A number below 2^51 added to it is rounded to a whole one, which the lowest bits then hold.
constexpr double kRounder = 6755399441055744.0;  // 1.5 2^52

union Bits {
  double number;
  unsigned long long bits;
};

GSWO_FN double of_bits(unsigned long long bits) {
  Bits b;
  b.bits = bits;
  return b.number;
}
GSWO_FN unsigned long long bits_of(double number) {
  Bits b;
  b.number = number;
  return b.bits;
}
GSWO_FN double infinity() {
  return of_bits(0x7ffull << 52);
}
GSWO_FN double nan() {
  return of_bits(0xfffull << 51);
}

/// 2^k as a normal number, for k + kRounder: -1022 <= k <= 1023.
GSWO_FN double power_of_two(double rounded) {
  return of_bits((bits_of(rounded) + 1023) << 52);
}

/// Between two numbers; NaN remains.
GSWO_FN double limited(double x, double low, double high) {
  const double above = x < low ? low : x;
  return above > high ? high : above;
}

/// What exp needs of x: e^x = 2^k e^r with |r| <= ln 2 / 2.
struct Reduced {
  double rounded, k, r;  // rounded: k + kRounder
};
GSWO_FN Reduced reduced(double x) {
  const double rounded = x * (1 / kLn2) + kRounder, k = rounded - kRounder;
  // ln 2 in two parts; the first has few bits, so that k times it is exact.
  return {rounded, k, (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10};
}

/// e^x for a result of type float: the relative error is below 2e-14.
GSWO_FN float exp_float(double x) {
  // Beyond these limits floats are 0 or infinite.
  const Reduced a = reduced(limited(x, -104, 89));
  const double r = a.r;
  double sum = 2.74821740378315596e-6;  // minimax, by Remez's algorithm
  sum = sum * r + 2.48840264498683816e-5;
  sum = sum * r + 1.98415965220512796e-4;
  sum = sum * r + 1.38888027945535426e-3;
  sum = sum * r + 8.33333300262924133e-3;
  sum = sum * r + 4.16666670326814839e-2;
  sum = sum * r + 0.166666666678278675;
  sum = sum * r + 0.499999999994575436;
  sum = sum * r + 0.999999999999892646;
  sum = sum * r + 1.00000000000001277;
  return static_cast<float>(sum * power_of_two(a.rounded));
}

GSWO_FN double exp(double x) {
  const Reduced a = reduced(limited(x, -745.2, 709.8));
  const double r = a.r;
  double sum = 1.0 / 6227020800;  // 1/13!, 1/12! ...
  sum = sum * r + 1.0 / 479001600;
  sum = sum * r + 1.0 / 39916800;
  sum = sum * r + 1.0 / 3628800;
  sum = sum * r + 1.0 / 362880;
  sum = sum * r + 1.0 / 40320;
  sum = sum * r + 1.0 / 5040;
  sum = sum * r + 1.0 / 720;
  sum = sum * r + 1.0 / 120;
  sum = sum * r + 1.0 / 24;
  sum = sum * r + 1.0 / 6;
  sum = sum * r + 0.5;
  sum = sum * r + 1;
  sum = sum * r + 1;
  const double half = a.k * 0.5 + kRounder, rest = a.k - (half - kRounder) + kRounder;
  return sum * power_of_two(half) * power_of_two(rest);
}

GSWO_FN double log(double x) {
  const bool tiny = x < 2.2250738585072014e-308;  // 2^-1022
  const unsigned long long bits = bits_of(tiny ? x * 18014398509481984.0 : x);
  // x = 2^k m with m in [1/sqrt 2, sqrt 2). The exponent's bits become a number without a
  // conversion.
  double k = of_bits(bits >> 52 | 0x433ull << 52) - (4503599627370496.0 + 1023);
  double m = of_bits((bits & 0xfffffffffffffull) | 1023ull << 52);
  const bool upper = m > 1.4142135623730951;
  m = upper ? m * 0.5 : m;
  k = k + (upper ? 1.0 : 0.0) - (tiny ? 54.0 : 0.0);
  const double s = (m - 1) / (m + 1), z = s * s;  // log m = 2 artanh s
  double sum = 1.0 / 25;
  sum = sum * z + 1.0 / 23;
  sum = sum * z + 1.0 / 21;
  sum = sum * z + 1.0 / 19;
  sum = sum * z + 1.0 / 17;
  sum = sum * z + 1.0 / 15;
  sum = sum * z + 1.0 / 13;
  sum = sum * z + 1.0 / 11;
  sum = sum * z + 1.0 / 9;
  sum = sum * z + 1.0 / 7;
  sum = sum * z + 1.0 / 5;
  sum = sum * z + 1.0 / 3;
  sum = sum * z + 1;
  const double result = x < infinity() ? 2 * s * sum + k * kLn2 : x;
  return x > 0 ? result : x == 0 ? -infinity() : nan();
}

GSWO_FN double pow(double x, double y) {
  if (y == 0 || x == 1) return 1;
  const bool integer = library::floor(y) == y;
  const bool odd = integer && library::floor(y * 0.5) != y * 0.5;
  if (x == 0) {
    const double limit = y > 0 ? 0 : infinity();
    return odd ? (1 / x < 0 ? -limit : limit) : limit;
  }
  if (x < 0 && !integer) return nan();
  if (integer && -64 <= y && y <= 64) {  // the same without any error for small numbers
    double product = 1;
    for (int i = static_cast<int>(y < 0 ? -y : y); i > 0; --i) product *= x;
    return y < 0 ? 1 / product : product;
  }
  const double result = detail::exp(y * detail::log(x < 0 ? -x : x));
  return x < 0 && odd ? -result : result;
}

/// sin x, or cos x with quarter = 1.
GSWO_FN double sine(double x, int quarter) {
  const double rounded = x * (2 / kPi) + kRounder, k = rounded - kRounder;
  // pi/2 in three parts; the first two have 33 bits.
  const double r = ((x - k * 1.57079632673412561417e+00) - k * 6.07710050630396597660e-11) -
                   k * 2.02226624879595063154e-21;
  const double z = r * r;
  const unsigned long long turn = bits_of(rounded) + static_cast<unsigned long long>(quarter);
  const bool cosine = turn & 1;
  double sum = cosine ? 1.0 / 20922789888000 : 1.0 / 355687428096000;  // 1/16!, 1/17!
  sum = sum * z - (cosine ? 1.0 / 87178291200 : 1.0 / 1307674368000);
  sum = sum * z + (cosine ? 1.0 / 479001600 : 1.0 / 6227020800);
  sum = sum * z - (cosine ? 1.0 / 3628800 : 1.0 / 39916800);
  sum = sum * z + (cosine ? 1.0 / 40320 : 1.0 / 362880);
  sum = sum * z - (cosine ? 1.0 / 720 : 1.0 / 5040);
  sum = sum * z + (cosine ? 1.0 / 24 : 1.0 / 120);
  sum = sum * z - (cosine ? 1.0 / 2 : 1.0 / 6);
  sum = (sum * z + 1) * (cosine ? 1 : r);
  return turn & 2 ? -sum : sum;
}

GSWO_FN double atan(double x) {
  const double a = x < 0 ? -x : x;
  // atan a = angle + atan(above / below), whose argument is at most tan(pi/8).
  const bool upper = a > 2.4142135623730949, middle = a > 0.41421356237309505;
  const double above = upper ? -1 : middle ? a - 1 : a, below = upper ? a : middle ? a + 1 : 1;
  const double angle = upper ? kPi / 2 : middle ? kPi / 4 : 0;
  const double t = above / below, z = t * t;
  double sum = 1.0 / 41;
  sum = 1.0 / 39 - z * sum;
  sum = 1.0 / 37 - z * sum;
  sum = 1.0 / 35 - z * sum;
  sum = 1.0 / 33 - z * sum;
  sum = 1.0 / 31 - z * sum;
  sum = 1.0 / 29 - z * sum;
  sum = 1.0 / 27 - z * sum;
  sum = 1.0 / 25 - z * sum;
  sum = 1.0 / 23 - z * sum;
  sum = 1.0 / 21 - z * sum;
  sum = 1.0 / 19 - z * sum;
  sum = 1.0 / 17 - z * sum;
  sum = 1.0 / 15 - z * sum;
  sum = 1.0 / 13 - z * sum;
  sum = 1.0 / 11 - z * sum;
  sum = 1.0 / 9 - z * sum;
  sum = 1.0 / 7 - z * sum;
  sum = 1.0 / 5 - z * sum;
  sum = 1.0 / 3 - z * sum;
  sum = 1 - z * sum;
  const double result = t * sum + angle;
  return x < 0 ? -result : result;
}

GSWO_FN double atan2(double y, double x) {
  const bool vertical = x == 0;
  const double angle = detail::atan(y / (vertical ? 1 : x));
  const double side = y < 0 ? -1 : 1;
  const double straight = y == 0 ? 0 : side * (kPi / 2);
  const double turned = x < 0 ? angle + side * kPi : angle;
  return vertical ? straight : turned;
}

GSWO_FN double hypot(double x, double y) {
  return library::sqrt(x * x + y * y);
}

}  // namespace gswo::detail
