// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Owners of CUDA memory, streams and events, for callers that do not include CUDA headers. Each
/// belongs to the context that is current when it is made, and must be destroyed while that context
/// is current. Every function throws Error when CUDA refuses; destructors never throw. In a build
/// without CUDA every constructor and allocation throws Error.
#pragma once
#include <cstddef>
#include <utility>

#include "common/api.h"

struct CUstream_st;  // cudaStream_t points to it
struct CUevent_st;   // cudaEvent_t points to it
struct CUctx_st;     // CUcontext points to it

namespace cudascan::cuda {

/// Makes the primary context of a device current in the calling thread; what the thread makes from
/// then on belongs to that device. A context that another library has made current there is
/// replaced. `Devices::all()` lists the devices.
CUDASCAN_API void use_device(int device);

enum class MemoryKind { device, pinned };

/// Uninitialised memory that only grows: device memory, or pinned host memory, which the GPU reads
/// and writes at full speed.
template <MemoryKind kind>
class CUDASCAN_API Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t bytes) { reserve(bytes); }
  ~Buffer();
  Buffer(Buffer &&other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Buffer &operator=(Buffer &&other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  /// Makes the buffer at least this large. Growing loses the contents and waits for the device. If
  /// there is not enough memory, it throws Error and the buffer is empty.
  void *reserve(std::size_t bytes);
  void *data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  void *data_ = nullptr;
  std::size_t size_ = 0;
};

extern template class Buffer<MemoryKind::device>;
extern template class Buffer<MemoryKind::pinned>;
using DeviceBuffer = Buffer<MemoryKind::device>;
using PinnedBuffer = Buffer<MemoryKind::pinned>;

/// A point in a stream that other streams and the host can wait for.
class CUDASCAN_API Event {
 public:
  /// @param timing  whether elapsed_ns() may be called; record() then costs a little more
  explicit Event(bool timing = false);
  ~Event();
  Event(Event &&other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event &operator=(Event &&other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }

  void record(CUstream_st *stream);
  /// Makes work queued on `stream` from now on wait for the event; the host does not wait.
  void make_wait(CUstream_st *stream) const;
  /// Whether the recorded work is done; true before the first record().
  bool done() const;
  /// Blocks the calling thread until done(). It sleeps and polls, so it may return late: by a
  /// quarter of the time that it waits, and by 70 us at least.
  void synchronize() const;
  /// Nanoseconds from `begin` to this event; both must have been recorded with timing and be done.
  double elapsed_ns(const Event &begin) const;

 private:
  CUevent_st *event_ = nullptr;
};

/// A stream that does not synchronise with the default stream.
class CUDASCAN_API Stream {
 public:
  Stream();
  ~Stream();
  Stream(Stream &&other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  Stream &operator=(Stream &&other) noexcept {
    std::swap(stream_, other.stream_);
    return *this;
  }

  CUstream_st *get() const { return stream_; }
  /// Whether all work that is queued is done. Any thread in which the stream's device is current.
  bool done() const;
  void synchronize() const;

 private:
  CUstream_st *stream_ = nullptr;
};

/// Queues a copy of `height` rows of `row_bytes` bytes between any combination of device and host
/// memory, with any alignment; strides may be negative. The copy is asynchronous only if the host
/// memory is pinned.
CUDASCAN_API void copy_rows(void *to, std::ptrdiff_t to_stride, const void *from,
                            std::ptrdiff_t from_stride, std::size_t row_bytes, int height,
                            CUstream_st *stream);

/// Queues the same copy between device memory of two contexts, of one device or of two. Where the
/// devices reach each other, the bytes go directly, else the driver takes them through the host.
/// The stream may be of either context. Only what is queued on it is ordered with the copy.
CUDASCAN_API void copy_rows_between(CUctx_st *to_context, void *to, std::ptrdiff_t to_stride,
                                    CUctx_st *from_context, const void *from,
                                    std::ptrdiff_t from_stride, std::size_t row_bytes, int height,
                                    CUstream_st *stream);

}  // namespace cudascan::cuda
