// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include "kernels/autothreshold.h"
#include "tests/elements/expectation.h"

namespace cudascan::elements {

inline Colour colour_of(const AutothresholdParams &p) {
  return p.apply && p.classes == 2 ? Colour::none : Colour::of_input;
}

inline std::set<std::string> settings_of(const AutothresholdParams &) {
  return {"method",     "classes",      "apply",        "invert", "offset",   "smoothing",
          "hysteresis", "ignore-black", "ignore-white", "roi",    "roi-from", "algorithm"};
}

}  // namespace cudascan::elements
