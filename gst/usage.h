// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace cudascan::gst {

/// The pending GPU work on one memory. The next user of the memory asks here. Work queued on a
/// stream is ordered after the work it depends on without making the host wait; the host waits only
/// if the CPU itself is next.
///
/// Many threads and streams may read at once. A writer is alone, which GStreamer's locks on
/// memories and buffer pools ensure, but the GPU may still be reading.
///
/// @tparam Moment  the end of work on a stream, see timeline.h, or a test double
/// @tparam Stream  CUstream_st *, or a test double
template <typename Moment, typename Stream>
class BasicUsage {
 public:
  /// For a reader in another context than the writer's: call it while the writer's context is
  /// current, before begin_read(), which then needs no new event.
  void mark_writer() {
    std::lock_guard lock(mutex_);
    if (!writer_) return;
    writer_->set_awaited();
    writer_->mark();
  }

  /// Brackets around the queueing of work that reads the memory; `end` is the end of that work.
  void begin_read(Stream stream) {
    std::lock_guard lock(mutex_);
    if (writer_ && writer_->stream() == stream) writer_->set_followed();
    order_after(writer_, stream);
  }
  void end_read(std::shared_ptr<Moment> end) {
    std::lock_guard lock(mutex_);
    for (std::shared_ptr<Moment> &reader : readers_)
      if (reader->stream() == end->stream() || reader->done()) {
        reader = std::move(end);
        return;
      }
    readers_.push_back(std::move(end));
  }

  /// Brackets around the queueing of work that writes the memory.
  void begin_write(Stream stream) {
    std::lock_guard lock(mutex_);
    order_after(writer_, stream);
    for (const auto &reader : readers_) order_after(reader, stream);
  }
  void end_write(std::shared_ptr<Moment> end) {
    std::lock_guard lock(mutex_);
    writer_ = std::move(end);
    readers_.clear();  // the writer came after them
  }

  /// Blocks until the CPU may read; `on_wait` is called before the thread goes to sleep.
  template <typename OnWait>
  void wait_to_read(OnWait on_wait) {
    std::shared_ptr<Moment> writer;
    {
      std::lock_guard lock(mutex_);
      writer = writer_;
    }
    // Sleeps without the lock: others may start reading on the GPU. Nobody writes meanwhile.
    synchronize(writer, on_wait);
  }
  /// Blocks until the CPU may write, or free the memory.
  template <typename OnWait>
  void wait_to_write(OnWait on_wait) {
    std::lock_guard lock(mutex_);
    synchronize(writer_, on_wait);
    for (const auto &reader : readers_) synchronize(reader, on_wait);
    readers_.clear();
  }

 private:
  static void order_after(const std::shared_ptr<Moment> &user, Stream stream) {
    if (!user || user->stream() == stream) return;
    user->set_awaited();
    user->make_wait(stream);
  }
  template <typename OnWait>
  static void synchronize(const std::shared_ptr<Moment> &user, OnWait on_wait) {
    if (!user || user->done()) return;
    user->set_awaited();
    on_wait();
    user->synchronize();
  }

  std::mutex mutex_;
  std::shared_ptr<Moment> writer_;
  std::vector<std::shared_ptr<Moment>> readers_;
};

}  // namespace cudascan::gst
