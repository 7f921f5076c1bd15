// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// A logarithm with the same bits on the CPU and on the GPU; those of their libraries differ.
#pragma once
#include <cstdint>

#include "common/api.h"

namespace cudascan {

/// log2(x) of a positive, normal x. Exact for powers of two; otherwise the error is below
/// 3e-16 max(1, |log2(x)|) and below 5e-16 |log2(x)|.
///
/// x = 2^e m with m between sqrt(1/2) and sqrt(2), and log(m) = 2 atanh(f), where
/// f = (m - 1) / (m + 1), |f| < 0.1716. This is a series in f^2; the error after eleven terms is
/// less than 1e-17.
CUDASCAN_HD inline double log2_of(double x) {
  // The bits of sqrt(1/2): subtracting them gives the exponent e for m in its range.
  constexpr std::uint64_t kHalfRoot = 0x3fe6a09e667f3bcd;
  constexpr std::uint64_t kMantissa = (std::uint64_t{1} << 52) - 1;
  const std::uint64_t above = __builtin_bit_cast(std::uint64_t, x) - kHalfRoot;
  const double e = static_cast<double>(static_cast<std::int64_t>(above) >> 52);
  const double m = __builtin_bit_cast(double, (above & kMantissa) + kHalfRoot);

  constexpr double kTwoOverLn2 = 2.8853900817779268;
  const double f = (m - 1.0) / (m + 1.0), g = f * f;
  double tail = 1.0 / 21;
  tail = tail * g + 1.0 / 19;
  tail = tail * g + 1.0 / 17;
  tail = tail * g + 1.0 / 15;
  tail = tail * g + 1.0 / 13;
  tail = tail * g + 1.0 / 11;
  tail = tail * g + 1.0 / 9;
  tail = tail * g + 1.0 / 7;
  tail = tail * g + 1.0 / 5;
  tail = tail * g + 1.0 / 3;
  return e + kTwoOverLn2 * (f + f * (g * tail));
}

/// x log2(x), and 0 for x = 0.
CUDASCAN_HD inline double x_log2_x(double x) {
  return x > 0 ? x * log2_of(x) : 0;
}

}  // namespace cudascan
