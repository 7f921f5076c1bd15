// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// For the absent.cpp of each room, which replaces its CUDA code in a build without CUDA.
#pragma once
#include "common/error.h"

namespace cudascan {

/// Every function that needs a GPU throws this in such a build.
[[noreturn]] inline void refuse_cuda() {
  throw Error("this build of libcudascan has no CUDA; build it where nvcc is installed");
}

}  // namespace cudascan
