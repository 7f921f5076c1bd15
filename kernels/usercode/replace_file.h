// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <string>

#include "common/api.h"

namespace cudascan::gswo {

/// Puts a text into a file at once: others see what was there before, or all of it. What lies under
/// other names is never written to, whatever links somebody has laid out in the folder.
/// @return 0, or the errno of what failed; then everything is as before
CUDASCAN_API int replace_file(const std::string &path, const std::string &text);

}  // namespace cudascan::gswo
