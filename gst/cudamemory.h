// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Memory that tracks the GPU's pending work on it: CUDAMemory in all our formats, and pinned host
/// memory. Mapping it, for the CPU or with GST_MAP_CUDA, waits for the work that must be done
/// first. So it can be passed to any element while work is still queued, also through queue, tee or
/// capsfilter, and no element needs to announce anything. Code that orders its own work after it by
/// state_of() maps with kMapQueued, which does not wait.
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

/// Our state of one memory.
class MemoryState {
 public:
  MemoryState(GstCudaContext *context, std::shared_ptr<Stats> stats)
      : context_(add_ref(context)), stats_(std::move(stats)) {}
  /// Waits until the GPU is done with the memory.
  ~MemoryState();

  GstCudaContext *context() const { return context_.get(); }
  Usage &usage() { return usage_; }

  /// The stream on which one of our elements wrote the memory last, if one did. Work on the same
  /// stream needs no event to come after that. Only the writer, which is alone, sets it.
  const std::shared_ptr<OwnerStream> &written_on() const { return written_on_; }
  void set_written_on(std::shared_ptr<OwnerStream> stream) { written_on_ = std::move(stream); }

  /// Waits as needed for a map with these flags.
  /// @return false when CUDA failed; the element that made the memory learns of it
  bool wait(guint map_flags);

 private:
  Ref<GstCudaContext> context_;
  std::shared_ptr<Stats> stats_;
  std::shared_ptr<OwnerStream> written_on_;
  Usage usage_;
};

/// The state of our memory, nullptr for foreign memory.
MemoryState *state_of(GstMemory *memory);

/// The only memory of a buffer, nullptr when it has several or none.
GstMemory *only_memory(GstBuffer *buffer);

/// Pinned host memory, which the GPU reads and writes at full speed. Waits are counted in `stats`.
GstAllocator *pinned_allocator_new(GstCudaContext *context, std::shared_ptr<Stats> stats);

/// Buffers with CUDAMemory in any of our formats, also those that libgstcuda does not support.
/// @param owner  the stream that will write them
GstBufferPool *cuda_pool_new(GstCudaContext *context, std::shared_ptr<OwnerStream> owner,
                             std::shared_ptr<Stats> stats);

}  // namespace cudascan::gst
