// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// libgstcuda, whose API is unstable, as the one from 1.22 on: every difference between its versions
/// is here.
#pragma once
#define GST_USE_UNSTABLE_API
#include <gst/gst.h>

#if GST_CHECK_VERSION(1, 24, 0)
#include <gst/cuda/gstcuda.h>
#else
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>
#endif

#include "kernels/cuda_resources.h"

namespace cudascan::gst {

/// gst_cuda_allocator_alloc(), for memory that belongs to no stream.
inline GstMemory *libgstcuda_alloc(GstCudaAllocator *allocator, GstCudaContext *context,
                                   const GstVideoInfo &info) {
#if GST_CHECK_VERSION(1, 24, 0)
  return gst_cuda_allocator_alloc(allocator, context, nullptr, &info);
#else
  return gst_cuda_allocator_alloc(allocator, context, &info);
#endif
}

/// Makes `stream` wait for work that the owner of CUDAMemory left queued when passing it on. From
/// 1.24 on memory may belong to a stream and need that; elements of 1.22 synchronise themselves.
/// @param event  one to use for it
inline void order_behind_owner(GstCudaMemory *memory, cuda::Event &event, CUstream_st *stream) {
#if GST_CHECK_VERSION(1, 24, 0)
  GstCudaStream *owner = gst_cuda_memory_get_stream(memory);
  if (!owner || !GST_MEMORY_FLAG_IS_SET(memory, GST_CUDA_MEMORY_TRANSFER_NEED_SYNC)) return;
  event.record(gst_cuda_stream_get_handle(owner));
  event.make_wait(stream);
#else
  (void)memory, (void)event, (void)stream;
#endif
}

}  // namespace cudascan::gst
