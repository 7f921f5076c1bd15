// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <string>

#include "options.h"

namespace cudascan::scan {

/// All settings that decide what pages look like, as options in one line. Pages of one input that
/// were made with the same settings are the same. Backend and number of jobs change nothing.
std::string settings_of(const Options &options);

}  // namespace cudascan::scan
