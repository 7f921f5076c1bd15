// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Means and standard deviations, rounded as swofilter/moments.h defines it: from an estimate in single
/// precision, which integers put right.
#pragma once
#include <cstdint>

#include "kernels/ptx.cuh"

namespace cudascan {

/// sum / n to the nearest integer, halves up; the quotient is below 2^16.
__device__ inline unsigned rounded_mean(unsigned sum, unsigned n) {
  // Off by less than 1.
  auto q =
      static_cast<unsigned>(static_cast<float>(sum) * reciprocal_approx(static_cast<float>(n)));
  const auto rest = static_cast<int>(2 * (sum - q * n)), whole = static_cast<int>(n);
  if (rest >= whole) q += rest >= 3 * whole ? 2 : 1;
  if (rest < -whole) --q;
  return q;
}

/// sqrt(variance) / n to the nearest integer, halves up. For up to 65025 samples of 16 bits, or as many
/// of fewer, n times what they are larger, (2 d - 1) n stays below 2^32 and 4 variance below 2^64.
/// @param variance  N Q - S^2
__device__ inline unsigned rounded_deviation(std::uint64_t variance, unsigned n) {
  const float wide = fmaf(static_cast<float>(static_cast<unsigned>(variance >> 32)), 0x1p32f,
                          static_cast<float>(static_cast<unsigned>(variance)));
  const float about = fmaf(sqrt_approx(wide), reciprocal_approx(static_cast<float>(n)), 0.5f);
  auto d = static_cast<unsigned>(about);
  const float part = about - static_cast<float>(d);
  if (part > 0.05f && part < 0.95f) return d;
  const auto fits = [&](unsigned d) {
    const auto odd = static_cast<std::uint64_t>(2 * d - 1) * n;
    return odd * odd <= 4 * variance;
  };
  if (d > 0 && !fits(d)) --d;
  if (fits(d + 1)) ++d;
  return d;
}

}  // namespace cudascan
