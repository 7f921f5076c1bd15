// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <cuda_runtime.h>

namespace cudascan::bench {

/// A launch that does nothing, to measure what a launch costs.
cudaError_t launch_empty_kernel(cudaStream_t stream);

}  // namespace cudascan::bench
