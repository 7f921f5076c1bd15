// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The part of the CUDA driver's interface that the kernel library uses: tensors that the copy
/// engine reads, and copies between contexts. See cuda_runtime.h.
#pragma once
#include <cuda_runtime.h>

enum CUresult { CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE };
enum CUtensorMapDataType {
  CU_TENSOR_MAP_DATA_TYPE_UINT8,
  CU_TENSOR_MAP_DATA_TYPE_UINT16,
  CU_TENSOR_MAP_DATA_TYPE_UINT32,
  CU_TENSOR_MAP_DATA_TYPE_UINT64
};
enum CUtensorMapInterleave { CU_TENSOR_MAP_INTERLEAVE_NONE };
enum CUtensorMapSwizzle { CU_TENSOR_MAP_SWIZZLE_NONE };
enum CUtensorMapL2promotion { CU_TENSOR_MAP_L2_PROMOTION_L2_128B };
enum CUtensorMapFloatOOBfill { CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE };

using cuuint32_t = std::uint32_t;
using cuuint64_t = std::uint64_t;

/// A tensor of three dimensions.
struct alignas(64) CUtensorMap {
  const unsigned char *data;
  std::size_t element;
  cuuint64_t size[3], stride[2];
  cuuint32_t box[3];
};

CUresult cuTensorMapEncodeTiled(CUtensorMap *tensor, CUtensorMapDataType type, cuuint32_t rank,
                                void *data, const cuuint64_t *size, const cuuint64_t *stride,
                                const cuuint32_t *box, const cuuint32_t *step,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill);

enum CUmemorytype { CU_MEMORYTYPE_DEVICE = 2 };
using CUdeviceptr = unsigned long long;
struct CUctx_st;
using CUcontext = CUctx_st *;

/// A copy between contexts, with the names of CUDA's.
struct CUDA_MEMCPY3D_PEER {
  CUmemorytype srcMemoryType, dstMemoryType;
  CUdeviceptr srcDevice, dstDevice;
  CUcontext srcContext, dstContext;
  std::size_t srcPitch, srcHeight, dstPitch, dstHeight, WidthInBytes, Height, Depth;
};

/// Refuses memory that is not of the stated context's device.
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *copy, cudaStream_t stream);
