// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The window functions that a formula or a function calls according to its text; macros and other
/// names may hide calls. So this may decide how something is computed, but never what.
#pragma once
#include <string>
#include <vector>

#include "common/api.h"

namespace cudascan::gswo {

/// `.rank(argument)` or `.percentile(argument)` with one token as argument.
struct RankCall {
  bool is_percentile;
  std::string argument;

  bool operator==(const RankCall &) const = default;
};

/// Calls outside comments and strings.
struct WindowCalls {
  bool min = false, max = false, median = false;  ///< `.min()` of all samples ...
  bool order = false;                             ///< anything else from sorted samples
  bool sums = false;     ///< `.sum()`, `.mean()`, `.variance()` or `.deviation()`
  bool squares = false;  ///< one of the last two
  bool count = false;    ///< `.count()`
  bool others = false;   ///< anything else from samples other than the pixel's own
  std::vector<RankCall> ranks = {};

  bool operator==(const WindowCalls &) const = default;
};

CUDASCAN_API WindowCalls window_calls(const std::string &text);

}  // namespace cudascan::gswo
