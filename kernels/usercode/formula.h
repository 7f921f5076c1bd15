// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What is looked at in a formula before a compiler sees it.
#pragma once
#include <string>
#include <vector>

#include "kernels/userfilter.h"

namespace cudascan::gswo {

/// Refuses what would end the function around a formula: that gives messages nobody understands.
/// @throws BadSetting
CUDASCAN_API void check_formula(const std::string &expression);

/// Refuses what is more than a formula of the window's samples, the constants and mathematics.
/// @throws BadSetting
CUDASCAN_API void check_strict_formula(const std::string &expression,
                                       const std::vector<UserFilterConstant> &);

}  // namespace cudascan::gswo
