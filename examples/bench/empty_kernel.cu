// SPDX-License-Identifier: LGPL-2.1-or-later
#include "examples/bench/empty_kernel.h"

namespace cudascan::bench {

static __global__ void empty_kernel() {}

cudaError_t launch_empty_kernel(cudaStream_t stream) {
  empty_kernel<<<1, 32, 0, stream>>>();
  return cudaGetLastError();
}

}  // namespace cudascan::bench
