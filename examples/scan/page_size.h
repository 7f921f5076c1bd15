// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <string>

#include "common/error.h"

namespace cudascan::scan {

inline constexpr int kLongestSide = 32768;  ///< pixels of a page

/// @throws Error for a page with a side that is too long
inline void check_size(const std::string &name, int width, int height) {
  if (width > kLongestSide || height > kLongestSide)
    throw Error(name + ": " + std::to_string(width) + "x" + std::to_string(height) +
                " pixels; the limit is " + std::to_string(kLongestSide) + " a side");
}

}  // namespace cudascan::scan
