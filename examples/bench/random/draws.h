// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Draws settings as users could set them: all operators but custom, all their methods, shapes,
/// borders, outputs and both depths, sides and lengths log-uniform up to their limits. Published
/// algorithms, which are slow on purpose, are left out, and directions end at 36. All settings are
/// valid.
#pragma once
#include <string>

#include "bench/bench.h"
#include "bench/random/families.h"

namespace cudascan::bench {

struct DrawnCase {
  int number;  ///< of the case, from 1
  Case c;      ///< its variant is the element with its properties, for gst-launch-1.0
  const Family *family;
  int directions = 1;  ///< the budget is multiplied by them

  /// For --filter: family, properties and size.
  std::string name() const { return family->title() + ": " + c.name(); }
};

/// The case of this number, which is the same on every machine.
/// @param size  its depth is replaced
DrawnCase draw_case(int seed, int number, Size size);

}  // namespace cudascan::bench
