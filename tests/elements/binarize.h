// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include "kernels/binarize.h"
#include "tests/elements/expectation.h"

namespace cudascan::elements {

inline Colour colour_of(const BinarizeParams &p) {
  return p.output == BinarizeOutput::binary ? Colour::none : Colour::of_input;
}

inline std::set<std::string> settings_of(const BinarizeParams &) {
  return {"level", "invert", "output", "smoothing", "roi", "roi-from"};
}

}  // namespace cudascan::elements
