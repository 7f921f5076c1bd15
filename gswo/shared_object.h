// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// C++ becomes code for this machine where no compiler is installed.
#pragma once
#include "gswo/options.h"

namespace cudascan::gswo {

/// Compiles `options.input`, C++20 that includes no header but those of -I, and links it as a shared
/// object, `options.output`, with the `ld` or `ld.lld` of PATH. Messages go to standard error. Floating
/// point operations round as they are written, as with the options that the library gives to g++.
/// @return whether there is an object
bool emit_shared_object(const Options &options);

}  // namespace cudascan::gswo
