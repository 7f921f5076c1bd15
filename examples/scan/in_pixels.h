// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Settings in pixels that follow the resolution of the page, unless they are given.
#pragma once
#include <algorithm>
#include <cmath>

#include "image.h"
#include "kernels/nick.h"

namespace cudascan::scan {

/// For Steps::despeckle: 3 pixels at 300 dpi, 6 at 600, and 1, which keeps all ink, below 150,
/// where dots have few pixels.
inline int shortest_ink(double dpi) {
  constexpr double kUsual = 3;
  return std::clamp(static_cast<int>(std::lround(kUsual * dpi / kUsualDpi)), 1, 64);
}

/// The default window of NickParams at 300 dpi, in proportion at others.
inline int usual_window(double dpi) {
  const double half = 0.5 * (NickParams{}.window * dpi / kUsualDpi - 1);
  return std::clamp(2 * static_cast<int>(std::lround(half)) + 1, 3, 1023);
}

}  // namespace cudascan::scan
