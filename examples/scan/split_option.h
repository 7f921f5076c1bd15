// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include "options.h"

namespace cudascan::scan {

/// Takes the value of --split; nullptr = it is not given.
/// @throws UsageError
void take_split(const char *value, Options &options);

/// @throws UsageError if there would be two pages, and the output holds one
void check_split(const Options &options);

}  // namespace cudascan::scan
