// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include "kernels/swofilter.h"
#include "tests/elements/colour.h"

namespace cudascan::elements {

inline Colour colour_of(const SwoFilterParams &p) {
  return is_binary(p.op) ? Colour::none : Colour::of_input;
}

}  // namespace cudascan::elements
