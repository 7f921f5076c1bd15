// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <cuda_runtime.h>

namespace cudascan {

/// A function of the driver, in the version of CUDA 12.0; nullptr if the driver is too old. The
/// runtime is linked in, the driver is not: it is there only at run time.
/// @tparam Function  pointer to the function
template <typename Function>
Function driver_function(const char *name) {
  void *function = nullptr;
  cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
  const cudaError_t error =
      cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found);
#else
  const cudaError_t error = cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &found);
#endif
  if (error == cudaSuccess && found == cudaDriverEntryPointSuccess)
    return reinterpret_cast<Function>(function);
  cudaGetLastError();
  return nullptr;
}

}  // namespace cudascan
