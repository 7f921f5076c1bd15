// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <string>

#include "common/api.h"

namespace cudascan::gswo {

/// Replaces a file atomically: others see the old contents or all of the new ones. Files with other
/// names are never written to, whatever links somebody has planted in the folder.
/// @return 0, or the errno of the failure; then nothing has changed
CUDASCAN_API int replace_file(const std::string &path, const std::string &text);

}  // namespace cudascan::gswo
