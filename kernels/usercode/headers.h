// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <vector>

#include "kernels/usercode/code.h"

namespace cudascan::gswo {

/// The headers for compiling filters, such as gswo/window.h. They are embedded in this library.
CUDASCAN_API const std::vector<SourceText> &headers();

}  // namespace cudascan::gswo
