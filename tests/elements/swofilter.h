// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include "kernels/swofilter.h"
#include "tests/elements/expectation.h"

namespace cudascan::elements {

inline Colour colour_of(const SwoFilterParams &p) {
  return is_binary(p.op) ? Colour::none : Colour::of_input;
}

inline std::set<std::string> settings_of(const SwoFilterParams &) {
  return {"operator",     "window",       "window-width", "window-height", "shape",    "border",
          "border-value", "percentile",   "alpha",        "iterations",    "thinning", "marker",
          "height",       "connectivity", "algorithm",    "expression",    "source",   "function",
          "params",       "reload",       "cache-dir",    "emit-cuda",     "strict",   "tile-width",
          "tile-height",  "chunk-width",  "chunk-height", "reads",         "tune"};
}

}  // namespace cudascan::elements
