// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Translates the user's file to the code that gswo-cc writes.
#pragma once
#include <optional>
#include <string>

#include "gswo/options.h"
#include "gswo/source.h"

namespace cudascan::gswo {

/// Translates to Emit::kernel, standalone or plain, but not to a shared object. The source reports
/// errors; Clang's parser prints its own on standard error.
/// @return the code, or nothing if there was an error
std::optional<std::string> translate(Source &, const Options &);

}  // namespace cudascan::gswo
