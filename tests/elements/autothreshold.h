// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include "kernels/autothreshold.h"
#include "tests/elements/colour.h"

namespace cudascan::elements {

inline Colour colour_of(const AutothresholdParams &p) {
  return p.apply && p.classes == 2 ? Colour::none : Colour::of_input;
}

}  // namespace cudascan::elements
