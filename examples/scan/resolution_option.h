// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <string>

#include "options.h"

namespace cudascan::scan {

/// @param dpi      of --resolution; not a number if it was not given
/// @param enlarge  of --enlarge
/// @throws UsageError for what is not allowed
void take_resolution(double dpi, const std::string &enlarge, Options &options);

}  // namespace cudascan::scan
