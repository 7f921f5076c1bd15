// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// From the user's file to the code that gswo-cc writes.
#pragma once
#include <optional>
#include <string>

#include "gswo/options.h"
#include "gswo/source.h"

namespace cudascan::gswo {

/// Translates to Emit::kernel, standalone or plain; a shared object is no translation. Errors are
/// said by the source, and those of Clang's parser on standard error.
/// @return the code, or nothing if there was an error
std::optional<std::string> translate(Source &, const Options &);

}  // namespace cudascan::gswo
