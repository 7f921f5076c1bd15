// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The stand-alone output: a CUDA program with the user's host code, in which launches replace
/// `parallel` blocks. Images whose memory no pragma manages are uploaded before a kernel and
/// downloaded after it. The upload has exactly the rows and columns that the windows read.
#pragma once
#include "gswo/kernel.h"

namespace cudascan::gswo {

std::string standalone_file(const Unit &, const std::vector<std::unique_ptr<Kernel>> &);

}  // namespace cudascan::gswo
