// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Checks a formula before a compiler sees it.
#pragma once
#include <string>
#include <vector>

#include "kernels/userfilter.h"

namespace cudascan::gswo {

/// Refuses text that would end the function around a formula, because compiler messages about that
/// would be hard to understand.
/// @throws BadSetting
CUDASCAN_API void check_formula(const std::string &expression);

/// Refuses everything that is not a formula of the window's samples, constants and mathematics.
/// @throws BadSetting
CUDASCAN_API void check_strict_formula(const std::string &expression,
                                       const std::vector<UserFilterConstant> &);

}  // namespace cudascan::gswo
