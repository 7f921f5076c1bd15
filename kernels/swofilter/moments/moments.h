// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Mean and standard deviation of windows. With N samples in the window, in levels, their sum S and
/// the sum of their squares Q:
///
/// | operator           | result                                                    |
/// |--------------------|-----------------------------------------------------------|
/// | mean               | S / N, rounded to the nearest level, halves up            |
/// | standard-deviation | sqrt(N Q - S^2) / N, rounded to the nearest level, halves up |
///
/// The rounding is decided in integers.
#pragma once
#include "kernels/swofilter/window.h"

namespace cudascan::swo {

using u128 = unsigned __int128;

/// S / N.
CUDASCAN_HD inline unsigned rounded_mean(std::uint32_t sum, std::uint32_t n) {
  return static_cast<unsigned>((2 * std::uint64_t{sum} + n) / (2 * n));
}

/// sqrt(N Q - S^2) / N. For up to 65025 samples of 16 bits, S is below 2^32, Q below 2^48 and N Q
/// below 2^64.
CUDASCAN_HD inline unsigned rounded_deviation(std::uint64_t sum, std::uint64_t squares,
                                              std::uint64_t n) {
  const std::uint64_t variance = n * squares - sum * sum;  // n^2 times that
  // The largest d with (2 d - 1)^2 n^2 <= 4 variance.
  const auto fits = [&](std::uint64_t d) {
    const std::uint64_t odd = (2 * d - 1) * n;  // below 2^33
    return u128{odd} * odd <= u128{variance} * 4;
  };
  auto d = static_cast<std::uint64_t>(
      __builtin_sqrt(static_cast<double>(variance)) / static_cast<double>(n) + 0.5);
  while (d > 0 && !fits(d)) --d;
  while (fits(d + 1)) ++d;
  return static_cast<unsigned>(d);
}

/// mean and standard-deviation.
template <typename T>
void moments(Cpu &, Plane<const T> in, Plane<T> out, const FilterJob &);
template <typename T>
void moments(Cuda &, Plane<const T> in, Plane<T> out, const FilterJob &);

}  // namespace cudascan::swo
