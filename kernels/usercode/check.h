// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Which settings a user's filter can have.
#pragma once
#include "kernels/userfilter.h"

namespace cudascan::gswo {

/// Throws BadSetting if there is no code, or a name that code cannot have.
void check_filter(const UserFilterParams &);

}  // namespace cudascan::gswo
