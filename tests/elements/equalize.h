// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include "kernels/equalize.h"
#include "tests/elements/expectation.h"

namespace cudascan::elements {

inline std::set<std::string> settings_of(const EqualizeParams &) {
  return {"method", "formula",   "clip-limit", "tiles-x",  "tiles-y",
          "amount", "smoothing", "roi",        "roi-from", "algorithm"};
}

}  // namespace cudascan::elements
