// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Families of settings that should take about the same time, and the budget of each: the longest
/// time for a frame of 3840x2160 on an H200.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "bench/bench.h"

namespace cudascan::bench {

/// The budget of families without one of their own: 60 frames a second.
inline constexpr double kFrameUs = 16700;
/// The budget of every family on the CPU, for 1920x1080.
inline constexpr double kCpuUs = 500e3;

struct Family {
  const char *name;       ///< operators and shape: "extrema, ellipse"
  int up_to;              ///< largest side or length of this class; 0 = no classes
  double us8, us16;       ///< budget by depth; kNoClass: the next class has these settings
  double other16 = us16;  ///< 16 bit, contents other than natural

  /// "extrema, ellipse up to 33".
  std::string title() const;
  double budget_us(int depth, Content content) const;
};

/// All of them, the classes of a name in the order of their sides.
std::span<const Family> families();

/// The family of settings whose larger side, or length, is `side`.
/// @throws Error if there is no family of this name
const Family &family_of(std::string_view name, int side, int depth);

}  // namespace cudascan::bench
