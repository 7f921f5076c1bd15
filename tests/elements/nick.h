// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include "kernels/nick.h"
#include "tests/elements/expectation.h"

namespace cudascan::elements {

inline Colour colour_of(const NickParams &p) {
  return p.output == NickOutput::binary ? Colour::none : Colour::of_input;
}

inline std::set<std::string> settings_of(const NickParams &) {
  return {"method", "window", "window-width", "window-height", "k",
          "r",      "invert", "output",       "algorithm"};
}

}  // namespace cudascan::elements
