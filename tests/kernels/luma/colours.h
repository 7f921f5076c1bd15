// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The luma of colours, and colours with another luma, as their definitions say.
#pragma once
#include <array>
#include <cmath>

#include "kernels/luma.h"
#include "tests/kernels/operator_test.h"

namespace cudascan::test {

inline constexpr Size kLumaSizes[] = {{1, 1}, {3, 2}, {4, 1}, {33, 5}, {130, 17}, {256, 9}};

inline const LumaWeights kWeights[] = {luma_weights(0.299, 0.114), luma_weights(0.2126, 0.0722),
                                       luma_weights(0.2627, 0.0593)};

/// The sum of the weighted samples, rounded.
inline unsigned luma_of(const LumaWeights &w, double red, double green, double blue) {
  return static_cast<unsigned>(
      std::floor((w.red * red + w.green * green + w.blue * blue) / 65536 + 0.5));
}

/// A colour with another luma: its distances to the luma, times the largest factor that keeps all
/// samples in their range.
inline std::array<unsigned, 3> recoloured(const LumaWeights &w, const std::array<unsigned, 3> &rgb,
                                          unsigned luma, unsigned maximum) {
  const auto before = static_cast<std::int64_t>(luma_of(w, rgb[0], rgb[1], rgb[2]));
  std::int64_t room = 1, needed = 1;  // the factor is their quotient
  for (const std::int64_t sample : rgb) {
    const std::int64_t r = sample > before ? maximum - luma : luma, n = std::abs(sample - before);
    if (n > r && static_cast<long double>(r) / n < static_cast<long double>(room) / needed)
      room = r, needed = n;
  }
  std::array<unsigned, 3> result;
  for (int i = 0; i < 3; ++i) {
    const std::int64_t distance = rgb[i] - before;
    result[i] = static_cast<unsigned>(
        luma + (distance < 0 ? -1 : 1) * ((2 * std::abs(distance) * room + needed) / (2 * needed)));
  }
  return result;
}

}  // namespace cudascan::test
