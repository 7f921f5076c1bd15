// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The published equalization, kept as the baseline for benchmarks: Dobreanu, Chelaru, "Histogram
/// equalization", Technical University "Gheorghe Asachi" of Iasi. What the report does not print,
/// the division of the naive program and the launches of the scan, is as in the program of its
/// authors, github.com/mcdobr/histogram_equalization.
#pragma once
#include <cstdint>

#include "kernels/equalize.h"

namespace cudascan::equalize {

/// Which of the published kernels run.
struct BaselineVariant {
  bool shared_histogram;     ///< first optimization: a histogram for each block in shared memory
  bool float_factor;         ///< second optimization: no division for each pixel
  int histogram_load = 128;  ///< pixels that a thread of the shared histogram counts
  int mapping_load = 32;     ///< pixels that a thread maps with the factor
};
/// The naive program, that with the first optimization, and that with both.
inline constexpr BaselineVariant kNaive{false, false}, kHistogramOnly{true, false},
    kBothOptimizations{true, true};

constexpr BaselineVariant baseline_variant(EqualizeAlgorithm algorithm) {
  return algorithm == EqualizeAlgorithm::naive ? kNaive : kBothOptimizations;
}

/// The new value of a level by the naive program: the exact quotient. Its product has 64 bits, as
/// 32 bits, which its authors use, overflow beyond 16.8 million pixels.
/// @param cdf  pixels of the level or below
CUDASCAN_HD inline std::uint8_t naive_map(std::uint32_t cdf, std::uint64_t pixels) {
  return static_cast<std::uint8_t>(std::uint64_t{cdf} * 255 / pixels);
}

CUDASCAN_HD inline float baseline_factor(std::uint32_t pixels) {
  return 255.f / static_cast<float>(pixels);
}

/// The new value of a level by the second optimization. The factor and the product are rounded to
/// single precision, so a level may be one off the exact quotient.
CUDASCAN_HD inline std::uint8_t baseline_map(std::uint32_t cdf, float factor) {
  return static_cast<std::uint8_t>(static_cast<float>(cdf) * factor);
}

}  // namespace cudascan::equalize
