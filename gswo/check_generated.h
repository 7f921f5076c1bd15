// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Finds values that windows carry from one to the next, if only data-flow analysis can find them.
#pragma once
#include "gswo/kernel.h"

namespace cudascan::gswo {

/// A variable that could still hold the last window's value is an uninitialised variable of the
/// generated function. So Clang's analysis of uninitialised variables on the generated text finds
/// it, at the user's lines. This also checks that the generated text compiles.
/// @param text  the kernel output
void check_generated(Source &, const Options &, const std::vector<std::unique_ptr<Kernel>> &,
                     const std::string &text);

}  // namespace cudascan::gswo
