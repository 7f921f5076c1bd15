// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <cuda_runtime.h>

namespace cudascan::bench {

/// Launches an empty kernel, to measure the cost of a launch.
cudaError_t launch_empty_kernel(cudaStream_t stream);

}  // namespace cudascan::bench
