// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/row_stage.cuh"

#include "kernels/cuda_check.cuh"

namespace cudascan {
namespace {

using Encode = decltype(&cuTensorMapEncodeTiled);

/// The driver's function, which the runtime finds without linking the driver; nullptr if it is too old.
Encode find_encode() {
  void *function = nullptr;
  cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
  const cudaError_t error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function,
                                                             12000, cudaEnableDefault, &found);
#else
  const cudaError_t error =
      cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function, cudaEnableDefault, &found);
#endif
  if (error != cudaSuccess || found != cudaDriverEntryPointSuccess) {
    cudaGetLastError();
    return nullptr;
  }
  return reinterpret_cast<Encode>(function);
}

template <typename T>
StagedPlane<T> stage(const Plane<const T> &plane) {
  StagedPlane<T> staged{{}, plane, false};
  if ((reinterpret_cast<std::uintptr_t>(plane.data) | plane.stride) % 16 != 0) return staged;
  int device = 0, major = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  if (major < 9) return staged;
  static const Encode encode = find_encode();
  if (!encode) return staged;

  // An element is two samples; where the width is odd, the sample after the last one
  // comes along.
  const cuuint64_t size[] = {static_cast<cuuint64_t>(plane.width + 1) / 2,
                             static_cast<cuuint64_t>(plane.height)};
  const cuuint64_t stride[] = {static_cast<cuuint64_t>(plane.stride)};
  const cuuint32_t box[] = {kPieceStride<T> / (2 * sizeof(T)), kStageRows<T>};
  const cuuint32_t step[] = {1, 1};
  staged.by_engine =
      encode(&staged.map,
             sizeof(T) == 1 ? CU_TENSOR_MAP_DATA_TYPE_UINT16 : CU_TENSOR_MAP_DATA_TYPE_UINT32, 2,
             const_cast<T *>(plane.data), size, stride, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
             CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
  return staged;
}

}  // namespace

StagedPlane<std::uint8_t> stage_plane(const Plane<const std::uint8_t> &plane) {
  return stage(plane);
}
StagedPlane<std::uint16_t> stage_plane(const Plane<const std::uint16_t> &plane) {
  return stage(plane);
}

}  // namespace cudascan
