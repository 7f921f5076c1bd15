// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The published equalization, kept as the baseline for benchmarks: Dobreanu, Chelaru, "Histogram
/// equalization", Technical University "Gheorghe Asachi" of Iasi. Its factor and the product are
/// rounded to single precision, so a level may be one off the exact quotient.
#pragma once
#include <cstdint>

#include "kernels/equalize.h"

namespace cudascan::equalize {

CUDASCAN_HD inline float baseline_factor(std::uint32_t pixels) {
  return 255.f / static_cast<float>(pixels);
}

/// The new value of a level.
/// @param cdf  pixels of the level or below
CUDASCAN_HD inline std::uint8_t baseline_map(std::uint32_t cdf, float factor) {
  return static_cast<std::uint8_t>(static_cast<float>(cdf) * factor);
}

}  // namespace cudascan::equalize
