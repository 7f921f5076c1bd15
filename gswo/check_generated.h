// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Finds values that windows carry from one to the next where only the flow of data shows it.
#pragma once
#include "gswo/kernel.h"

namespace cudascan::gswo {

/// The variables that a window could find the last window's value in are uninitialised variables of the
/// generated function, so Clang's analysis of uninitialised variables on the generated text finds them,
/// at the user's lines. This also shows that what was generated compiles.
/// @param text  the kernel output
void check_generated(Source &, const Options &, const std::vector<std::unique_ptr<Kernel>> &,
                     const std::string &text);

}  // namespace cudascan::gswo
