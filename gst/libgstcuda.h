// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Wraps libgstcuda from 1.22 on. Its API is unstable; every difference between versions is handled
/// here.
#pragma once
#ifndef GST_USE_UNSTABLE_API
#define GST_USE_UNSTABLE_API
#endif
#include <gst/gst.h>

#if GST_CHECK_VERSION(1, 24, 0)
#include <gst/cuda/gstcuda.h>
#else
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>
#endif

#include <memory>
#include <mutex>
#include <optional>

#include "common/error.h"
#include "gst/timeline.h"
#include "kernels/cuda_resources.h"

namespace cudascan::gst {

using Timeline = BasicTimeline<cuda::Event, CUstream_st *>;
using Moment = BasicMoment<cuda::Event, CUstream_st *>;

/// Makes a context current for the scope.
class ContextScope {
 public:
  /// @throws Error when CUDA refuses
  explicit ContextScope(GstCudaContext *context) {
    if (!gst_cuda_context_push(context)) throw Error("the CUDA context cannot be made current");
  }
  ~ContextScope() { gst_cuda_context_pop(nullptr); }
  ContextScope(const ContextScope &) = delete;
  ContextScope &operator=(const ContextScope &) = delete;
};

/// A stream of an element, and its progress. From 1.24 on, CUDAMemory that is written on it refers
/// to it, so that elements that use memory without mapping it can synchronise
/// (gst_cuda_memory_sync()).
class OwnerStream {
 public:
  /// @throws Error when CUDA refuses
  explicit OwnerStream(GstCudaContext *context);
  ~OwnerStream();
  OwnerStream(const OwnerStream &) = delete;
  OwnerStream &operator=(const OwnerStream &) = delete;

  CUstream_st *get() const;
  /// Held by an element while it queues a frame, so that frames of other elements do not come in
  /// between and do not count as its time.
  std::mutex &queueing() { return queueing_; }

  /// The timeline of a stream; it keeps the stream alive.
  static std::shared_ptr<Timeline> timeline(const std::shared_ptr<OwnerStream> &stream) {
    return {stream, &*stream->timeline_};
  }

 private:
  friend GstMemory *libgstcuda_alloc(GstCudaAllocator *, GstCudaContext *, const OwnerStream &,
                                     const GstVideoInfo &);

  std::mutex queueing_;
  GstCudaContext *context_;
#if GST_CHECK_VERSION(1, 24, 0)
  GstCudaStream *stream_;
#else
  std::optional<cuda::Stream> stream_;
#endif
  std::optional<Timeline>
      timeline_;  // owns events, so it is destroyed while the context is current
};

inline OwnerStream::~OwnerStream() {
  const bool current = gst_cuda_context_push(context_);
  timeline_.reset();
#if GST_CHECK_VERSION(1, 24, 0)
  gst_cuda_stream_unref(stream_);
#else
  stream_.reset();
#endif
  if (current) gst_cuda_context_pop(nullptr);
  gst_object_unref(context_);
}

#if GST_CHECK_VERSION(1, 24, 0)

inline OwnerStream::OwnerStream(GstCudaContext *context) : stream_(gst_cuda_stream_new(context)) {
  if (!stream_) throw Error("cannot create a CUDA stream");
  context_ = static_cast<GstCudaContext *>(gst_object_ref(context));
  timeline_.emplace(get());
}
inline CUstream_st *OwnerStream::get() const {
  return gst_cuda_stream_get_handle(stream_);
}

inline GstMemory *libgstcuda_alloc(GstCudaAllocator *allocator, GstCudaContext *context,
                                   const OwnerStream &owner, const GstVideoInfo &info) {
  return gst_cuda_allocator_alloc(allocator, context, owner.stream_, &info);
}

inline void order_after_owner(GstCudaMemory *memory, cuda::Event &event, CUstream_st *stream) {
  GstCudaStream *owner = gst_cuda_memory_get_stream(memory);
  if (!owner || !GST_MEMORY_FLAG_IS_SET(memory, GST_CUDA_MEMORY_TRANSFER_NEED_SYNC)) return;
  event.record(gst_cuda_stream_get_handle(owner));
  event.make_wait(stream);
}

/// @return whether it waited
inline bool wait_for_owner(GstCudaMemory *memory) {
  if (!GST_MEMORY_FLAG_IS_SET(memory, GST_CUDA_MEMORY_TRANSFER_NEED_SYNC)) return false;
  gst_cuda_memory_sync(memory);
  return true;
}

#else

inline OwnerStream::OwnerStream(GstCudaContext *context) {
  ContextScope scope(context);
  stream_.emplace();
  timeline_.emplace(get());
  context_ = static_cast<GstCudaContext *>(gst_object_ref(context));
}
inline CUstream_st *OwnerStream::get() const {
  return stream_->get();
}

/// gst_cuda_allocator_alloc().
inline GstMemory *libgstcuda_alloc(GstCudaAllocator *allocator, GstCudaContext *context,
                                   const OwnerStream &, const GstVideoInfo &info) {
  return gst_cuda_allocator_alloc(allocator, context, &info);
}

/// Makes `stream` wait for the work queued on the stream of a CUDAMemory. In 1.22 memory has no
/// stream; its elements synchronise before they push.
/// @param event  an event to use for it
inline void order_after_owner(GstCudaMemory *, cuda::Event &, CUstream_st *) {}

/// Makes the host wait for that work. For memory of another context, whose events are made there.
inline bool wait_for_owner(GstCudaMemory *) {
  return false;
}

#endif

}  // namespace cudascan::gst
