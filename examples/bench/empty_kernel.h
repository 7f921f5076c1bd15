// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <cuda_runtime.h>

namespace cudascan::bench {

/// What a launch costs that does nothing.
cudaError_t launch_empty_kernel(cudaStream_t stream);

}  // namespace cudascan::bench
