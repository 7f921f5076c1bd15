// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <cuda_runtime.h>

#include <string>

#include "common/error.h"

static_assert(CUDART_VERSION >= 12000, "the CUDA Toolkit must be 12.0 or newer");

namespace cudascan {

inline void check(cudaError_t error, const char *what) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // so that the check after the next launch does not find this error again
  throw Error(std::string("CUDA: ") + cudaGetErrorString(error) + " (in " + what + ")");
}

}  // namespace cudascan

/// Throws Error when a call of the CUDA runtime fails.
#define CUDA_CHECK(call) ::cudascan::check((call), #call)
