// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What stands in for the CUDA code of a room, its absent.cpp, in a build without CUDA.
#pragma once
#include "common/error.h"

namespace cudascan {

/// What every function that needs a GPU throws in such a build.
[[noreturn]] inline void refuse_cuda() {
  throw Error("this build of libcudascan has no CUDA; build it where nvcc is installed");
}

}  // namespace cudascan
