// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Settings of swofilter as text for messages.
#pragma once
#include <ostream>

#include "kernels/swofilter.h"

namespace cudascan {

inline std::ostream &operator<<(std::ostream &s, const SwoFilterParams &p) {
  return s << "operator " << static_cast<int>(p.op) << ", window " << p.window << " ("
           << p.window_width << "x" << p.window_height << "), shape " << p.shape << ", border "
           << static_cast<int>(p.border) << ", border value " << p.border_value << ", percentile "
           << p.percentile << ", alpha " << p.alpha;
}

}  // namespace cudascan
