// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Memory that knows what the GPU still does with it: CUDAMemory in all our formats, and pinned
/// host memory. Mapping it, for the CPU or with GST_MAP_CUDA, waits for what must be done before;
/// so it can be handed to any element while the work is still queued, also through queue, tee or
/// capsfilter, and no element needs to announce anything. Those who order their own work behind it
/// by state_of() map with kMapQueued, which does not wait.
///
/// The mechanism is the same from GStreamer 1.22 on.
#pragma once
#include <gst/video/video.h>

#include <memory>

#include "gst/libgstcuda.h"
#include "gst/stats.h"
#include "gst/usage.h"
#include "kernels/cuda_resources.h"

namespace cudascan::gst {

using Usage = BasicUsage<Moment, CUstream_st *>;

/// Map flag, to be combined with GST_MAP_CUDA for CUDAMemory: do not wait. Beyond the flags of
/// GstVideoFrame and of the memory types of GStreamer.
inline constexpr guint kMapQueued = GST_MAP_FLAG_LAST << 9;

/// A reference to a GstObject.
struct Unref {
  void operator()(gpointer object) const { gst_object_unref(object); }
};
template <typename T>
using Ref = std::unique_ptr<T, Unref>;
template <typename T>
Ref<T> add_ref(T *object) {
  return Ref<T>(object ? static_cast<T *>(gst_object_ref(object)) : nullptr);
}

/// What hangs on one piece of memory of ours.
class MemoryState {
 public:
  MemoryState(GstCudaContext *context, std::shared_ptr<Stats> stats)
      : context_(add_ref(context)), stats_(std::move(stats)) {}
  /// Waits until the GPU is done with the memory.
  ~MemoryState();

  GstCudaContext *context() const { return context_.get(); }
  Usage &usage() { return usage_; }

  /// The stream on which an element of ours wrote the memory last, if one did: who works on the
  /// same stream comes behind that without an event. Set by who writes, which is alone.
  const std::shared_ptr<OwnerStream> &written_on() const { return written_on_; }
  void set_written_on(std::shared_ptr<OwnerStream> stream) { written_on_ = std::move(stream); }

  /// Waits as a map with these flags must.
  /// @return false when CUDA failed; the element that made the memory learns of it
  bool wait(guint map_flags);

 private:
  Ref<GstCudaContext> context_;
  std::shared_ptr<Stats> stats_;
  std::shared_ptr<OwnerStream> written_on_;
  Usage usage_;
};

/// The state of memory of ours, nullptr for memory of others.
MemoryState *state_of(GstMemory *memory);

/// The only memory of a buffer, nullptr when it has several or none.
GstMemory *only_memory(GstBuffer *buffer);

/// Host memory that the GPU reads and writes at full speed. Waits are counted in `stats`.
GstAllocator *pinned_allocator_new(GstCudaContext *context, std::shared_ptr<Stats> stats);

/// Buffers with CUDAMemory in any of our formats, also those that libgstcuda does not know.
/// @param owner  the stream that will write them
GstBufferPool *cuda_pool_new(GstCudaContext *context, std::shared_ptr<OwnerStream> owner,
                             std::shared_ptr<Stats> stats);

}  // namespace cudascan::gst
