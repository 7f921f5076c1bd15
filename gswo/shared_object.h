// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Compiles C++ for this machine without an installed compiler.
#pragma once
#include "gswo/options.h"

namespace cudascan::gswo {

/// Compiles `options.input`, which is C++20 and includes only headers from -I folders, and links it
/// as a shared object `options.output` with `ld` or `ld.lld` from PATH. Messages go to standard
/// error. Floating-point operations are rounded as written, as with the options that the library
/// gives to g++.
/// @return whether it succeeded
bool emit_shared_object(const Options &options);

}  // namespace cudascan::gswo
