// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/linearopen/digital_lines.h"

#include <cmath>
#include <numbers>

namespace cudascan::lines {

Direction Direction::of(double angle) {
  double degrees = std::fmod(angle, 180.0);
  if (degrees < 0) degrees += 180;
  // Lines from 45 to below 135 degrees are steep. Angles relative to the nearest axis keep 45
  // degrees exact.
  const bool steep = degrees >= 45 && degrees < 135;
  const double from_axis = steep ? degrees - 90 : degrees < 45 ? degrees : degrees - 180;
  const double slope = std::tan(from_axis * (std::numbers::pi / 180));
  // On the screen y grows downwards. A flat line with a positive angle rises to the right, so its
  // row number decreases. A steep line of more than 90 degrees leans to the left, so its column
  // increases downwards.
  Direction result{steep, steep ? slope > 0 : slope < 0, 0};
  result.slope = static_cast<std::int32_t>(std::lround(std::fabs(slope) * (1 << kFraction)));
  if (result.slope == 0) result.rising = false;
  return result;
}

}  // namespace cudascan::lines
