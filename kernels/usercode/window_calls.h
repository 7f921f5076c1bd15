// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What a formula or a function asks of its windows, as its text tells: not what macros and other
/// names hide. So this may decide how something is computed, never what.
#pragma once
#include <string>

#include "common/api.h"

namespace cudascan::gswo {

/// Calls outside of comments and strings.
struct WindowCalls {
  bool min = false, max = false, median = false;  ///< `.min()` of all samples ...
  bool order = false;                             ///< anything else of the samples in order
  bool others = false;  ///< anything else of samples that are not the pixel's own

  bool operator==(const WindowCalls &) const = default;
};

CUDASCAN_API WindowCalls window_calls(const std::string &text);

}  // namespace cudascan::gswo
