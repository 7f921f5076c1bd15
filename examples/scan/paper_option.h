// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <string>

#include "steps.h"

namespace cudascan::scan {

/// Finds a size of paper by its name, or by "WIDTHxHEIGHT" in millimetres.
/// @return false for anything else
bool find_paper(const std::string &text, Paper &paper);

}  // namespace cudascan::scan
