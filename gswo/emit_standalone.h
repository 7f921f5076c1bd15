// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The stand-alone output: a CUDA program with the user's host code, in which launches replace
/// `parallel` blocks. Images whose memory no pragma manages are copied to the device when a kernel
/// needs them there, exactly the rows and columns that the windows read. They stay until their
/// `parallel region` ends (gswo_region.h); a block of `parallel` outside is a region of its own.
#pragma once
#include "gswo/kernel.h"

namespace cudascan::gswo {

std::string standalone_file(const Unit &, const std::vector<std::unique_ptr<Kernel>> &);

}  // namespace cudascan::gswo
