// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace cudascan::gst {

/// The GPU work under way on one piece of memory. Whoever uses the memory next asks here: work that
/// is queued on a stream is put behind what it depends on without the host waiting; the host waits
/// only when the CPU itself is next.
///
/// Many may read at once, in many threads and streams. Who writes is alone, as GStreamer's locks on
/// memories and buffer pools ensure, but readers may still be at work on the GPU.
///
/// @tparam Event   cuda::Event, or a stand-in for tests
/// @tparam Stream  CUstream_st *, or a stand-in
template <typename Event, typename Stream>
class BasicUsage {
 public:
  /// Brackets around the queueing of work that reads the memory.
  /// @param end  an event that was recorded behind the work, for what ends at the same place in several
  ///             memories; not recorded again as long as this holds it. Without one this records its own
  void begin_read(Stream stream) {
    std::lock_guard lock(mutex_);
    order_behind(writer_, stream);
  }
  void end_read(Stream stream, std::shared_ptr<Event> end = nullptr) {
    std::lock_guard lock(mutex_);
    for (User &reader : readers_)
      if (reader.stream == stream || !reader.busy) return record(reader, stream, std::move(end));
    record(readers_.emplace_back(), stream, std::move(end));
  }

  /// Brackets around the queueing of work that writes the memory; `end` as above.
  void begin_write(Stream stream) {
    std::lock_guard lock(mutex_);
    order_behind(writer_, stream);
    for (const User &reader : readers_) order_behind(reader, stream);
  }
  void end_write(Stream stream, std::shared_ptr<Event> end = nullptr) {
    std::lock_guard lock(mutex_);
    record(writer_, stream, std::move(end));
    for (User &reader : readers_) reader.busy = false;  // the writer came after them
  }

  /// Blocks until the CPU may read; `on_wait` is called before the thread goes to sleep.
  template <typename OnWait>
  void wait_to_read(OnWait on_wait) {
    {
      std::lock_guard lock(mutex_);
      if (!writer_.busy) return;
    }
    // Asleep without the lock: others may go on to read on the GPU. Nobody writes meanwhile.
    synchronize(writer_, on_wait);
    std::lock_guard lock(mutex_);
    writer_.busy = false;
  }
  /// Blocks until the CPU may write, or free the memory.
  template <typename OnWait>
  void wait_to_write(OnWait on_wait) {
    std::lock_guard lock(mutex_);
    synchronize(writer_, on_wait);
    writer_.busy = false;
    for (User &reader : readers_) {
      synchronize(reader, on_wait);
      reader.busy = false;
    }
  }

 private:
  struct User {
    std::shared_ptr<Event> event;
    Stream stream{};
    bool busy = false;  // the event was recorded and not yet seen to be done
  };

  static void order_behind(const User &user, Stream stream) {
    if (user.busy && user.stream != stream) user.event->make_wait(stream);
  }
  static void record(User &user, Stream stream, std::shared_ptr<Event> end) {
    if (!end) {
      // Its own one of before, unless others wait for that as well.
      end = user.event && user.event.use_count() == 1 ? user.event : std::make_shared<Event>();
      end->record(stream);
    }
    user.event = std::move(end);
    user.stream = stream;
    user.busy = true;
  }
  template <typename OnWait>
  static void synchronize(const User &user, OnWait on_wait) {
    if (!user.busy || user.event->done()) return;
    on_wait();
    user.event->synchronize();
  }

  std::mutex mutex_;
  User writer_;
  std::vector<User> readers_;
};

}  // namespace cudascan::gst
