// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <string>

#include "options.h"

namespace cudascan::scan {

/// As given.
struct MethodOptions {
  std::string method;
  int window;   ///< 0 = not given
  double k, r;  ///< NaN = not given
};

/// --method, --window, --k and --r.
/// @throws UsageError for an unknown method, and for values that it does not have
void take_method(const MethodOptions &given, Options &options);

}  // namespace cudascan::scan
