// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include "kernels/linearopen.h"
#include "tests/elements/expectation.h"

namespace cudascan::elements {

inline Colour colour_of(const LinearOpenParams &p) {
  return p.output == LinearOpenOutput::orientation ? Colour::of_directions : Colour::of_input;
}

inline std::set<std::string> settings_of(const LinearOpenParams &) {
  return {"operation", "length", "angle", "directions", "span", "output", "lines", "algorithm"};
}

}  // namespace cudascan::elements
