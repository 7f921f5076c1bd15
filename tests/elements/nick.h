// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include "kernels/nick.h"
#include "tests/elements/colour.h"

namespace cudascan::elements {

inline Colour colour_of(const NickParams &p) {
  return p.output == NickOutput::binary ? Colour::none : Colour::of_input;
}

}  // namespace cudascan::elements
