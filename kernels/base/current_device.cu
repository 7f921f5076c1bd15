// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/base/current_device.h"

#include "kernels/base/cuda_check.cuh"
#include "kernels/cuda_resources.h"

namespace cudascan {

int device_count() {
  int n = 0;
  CUDA_CHECK(cudaGetDeviceCount(&n));
  return n;
}

void cuda::use_device(int device) {
  CUDA_CHECK(cudaSetDevice(device));
}

}  // namespace cudascan
