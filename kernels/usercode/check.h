// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Checks the settings of a user's filter.
#pragma once
#include "kernels/userfilter.h"

namespace cudascan::gswo {

/// Throws BadSetting if there is no code, or if a name is not valid in code.
void check_filter(const UserFilterParams &);

}  // namespace cudascan::gswo
