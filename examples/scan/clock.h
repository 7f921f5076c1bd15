// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <chrono>

namespace cudascan::scan {

using Clock = std::chrono::steady_clock;

inline double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

}  // namespace cudascan::scan
