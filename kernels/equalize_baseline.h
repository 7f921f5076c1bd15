// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The published implementation of equalization, kept as the baseline that benchmarks compare with:
/// Dobreanu, Chelaru, "Histogram equalization", Technical University of Iasi. It is the formula cdf
/// of equalize.h with a factor in single precision. The factor, N and the product are rounded, by
/// less than 1e-4 of a level together, so the result is that of formula = cdf, or the level beside
/// it where cdf(i) (L - 1) / N is that close to an integer.
#pragma once
#include <cstdint>

#include "common/api.h"

namespace cudascan::equalize {

/// What counts of pixels are multiplied by.
CUDASCAN_HD inline float baseline_factor(std::uint32_t pixels) {
  return 255.f / static_cast<float>(pixels);
}

/// The level that replaces one which `cdf` pixels have or are below.
CUDASCAN_HD inline std::uint8_t baseline_level(std::uint32_t cdf, float factor) {
  return static_cast<std::uint8_t>(static_cast<float>(cdf) * factor);
}

}  // namespace cudascan::equalize
