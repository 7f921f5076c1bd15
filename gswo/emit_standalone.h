// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The stand-alone output: a CUDA program with the user's host code, in which launches stand in place of
/// `parallel` blocks. Images of which the pragmas do not manage the memory are uploaded before a kernel,
/// exactly the rows and columns that its windows read, and downloaded behind it.
#pragma once
#include "gswo/kernel.h"

namespace cudascan::gswo {

std::string standalone_file(const Unit &, const std::vector<std::unique_ptr<Kernel>> &);

}  // namespace cudascan::gswo
