// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cuda.h>

#include <string>

#include "common/error.h"
#include "kernels/base/driver.cuh"
#include "kernels/cuda_resources.h"

namespace cudascan::cuda {

void copy_rows_between(CUctx_st *to_context, void *to, std::ptrdiff_t to_stride,
                       CUctx_st *from_context, const void *from, std::ptrdiff_t from_stride,
                       std::size_t row_bytes, int height, CUstream_st *stream) {
  // The runtime's functions know devices, but a device may have several contexts.
  static const auto copy = driver_function<decltype(&cuMemcpy3DPeerAsync)>("cuMemcpy3DPeerAsync");
  if (!copy) throw Error("the NVIDIA driver cannot copy between contexts; install a newer one");
  const auto packed = static_cast<std::ptrdiff_t>(row_bytes);
  const bool at_once = height == 1 || (to_stride >= packed && from_stride >= packed);
  CUDA_MEMCPY3D_PEER job{};
  job.srcMemoryType = job.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  job.srcContext = from_context;
  job.dstContext = to_context;
  job.srcPitch = at_once && height > 1 ? static_cast<std::size_t>(from_stride) : row_bytes;
  job.dstPitch = at_once && height > 1 ? static_cast<std::size_t>(to_stride) : row_bytes;
  job.WidthInBytes = row_bytes;
  job.Height = job.srcHeight = job.dstHeight = at_once ? static_cast<std::size_t>(height) : 1;
  job.Depth = 1;
  for (int y = 0; y < (at_once ? 1 : height); ++y) {
    job.srcDevice = reinterpret_cast<CUdeviceptr>(from) + y * from_stride;
    job.dstDevice = reinterpret_cast<CUdeviceptr>(to) + y * to_stride;
    if (const CUresult error = copy(&job, stream); error != CUDA_SUCCESS)
      throw Error("CUDA: a copy between contexts failed with error " + std::to_string(error));
  }
}

}  // namespace cudascan::cuda
