// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace cudascan::gst {

/// The GPU's progress on one stream. An event between two consecutive kernels leaves the GPU idle
/// for some microseconds. So events are recorded only on request, and each covers all work before
/// it. Any thread may use it.
///
/// @tparam Event   cuda::Event, or a test double
/// @tparam Stream  CUstream_st *, or a test double
template <typename Event, typename Stream>
class BasicTimeline {
 public:
  /// So many pieces of work have been queued.
  using Place = std::uint64_t;

  explicit BasicTimeline(Stream stream) : stream_(stream) {}
  BasicTimeline(const BasicTimeline &) = delete;
  BasicTimeline &operator=(const BasicTimeline &) = delete;

  Stream stream() const { return stream_; }

  /// Call it after queueing work.
  /// @return the position after it
  Place advance() {
    const std::lock_guard lock(mutex_);
    return ++queued_;
  }

  /// Records an event after a position, unless there is one; it may come after later work, too.
  void mark(Place place) {
    const std::lock_guard lock(mutex_);
    if (place > done_) event_after(place);
  }
  /// Makes work queued on another stream from now on wait for the work before a position.
  void make_wait(Place place, Stream other) {
    const std::lock_guard lock(mutex_);
    if (place > done_) event_after(place)->make_wait(other);
  }
  /// Whether the work before a position is known to be done; false as long as no event follows it.
  bool done(Place place) {
    const std::lock_guard lock(mutex_);
    while (place > done_ && !marks_.empty() && marks_.front().event->done()) pass_first();
    return place <= done_;
  }
  /// Blocks until it is.
  void synchronize(Place place) {
    std::shared_ptr<Event> event;
    {
      const std::lock_guard lock(mutex_);
      if (place <= done_) return;
      event = event_after(place);
    }
    event->synchronize();  // sleeps without the lock
  }

 private:
  struct Mark {
    Place place;
    std::shared_ptr<Event> event;
  };
  static constexpr std::size_t kManyMarks = 16;

  void pass_first() {
    done_ = marks_.front().place;
    marks_.pop_front();
  }

  /// The first event after a position.
  const std::shared_ptr<Event> &event_after(Place place) {
    const auto mark = std::lower_bound(marks_.begin(), marks_.end(), place,
                                       [](const Mark &m, Place p) { return m.place < p; });
    if (mark != marks_.end()) return mark->event;
    // Perhaps nobody has asked what is done.
    while (marks_.size() >= kManyMarks && marks_.front().event->done()) pass_first();
    std::shared_ptr<Event> event = free_event();
    event->record(stream_);
    return marks_.emplace_back(queued_, std::move(event)).event;
  }

  /// An event that nobody waits for.
  std::shared_ptr<Event> free_event() {
    const auto free = std::find_if(events_.begin(), events_.end(),
                                   [](const auto &event) { return event.use_count() == 1; });
    if (free == events_.end()) return events_.emplace_back(std::make_shared<Event>());
    std::atomic_thread_fence(
        std::memory_order_acquire);  // others may have released it in other threads
    return *free;
  }

  std::mutex mutex_;
  const Stream stream_;
  Place queued_ = 0, done_ = 0;
  std::deque<Mark> marks_;  // not known to be done, in the order of the stream
  std::vector<std::shared_ptr<Event>> events_;
};

/// The end of a piece of work on a stream.
template <typename Event, typename Stream>
class BasicMoment {
 public:
  using Timeline = BasicTimeline<Event, Stream>;

  /// The end of the work that has just been queued.
  explicit BasicMoment(std::shared_ptr<Timeline> timeline)
      : timeline_(std::move(timeline)), place_(timeline_->advance()) {}

  Stream stream() const { return timeline_->stream(); }
  void mark() { timeline_->mark(place_); }
  bool done() { return timeline_->done(place_); }
  void synchronize() { timeline_->synchronize(place_); }
  void make_wait(Stream other) { timeline_->make_wait(place_, other); }

  /// For users of the result: whether they queued their work after it on the same stream or needed
  /// an event.
  void set_followed() { followed_ = true; }
  void set_awaited() { awaited_ = true; }
  bool only_followed() const { return followed_ && !awaited_; }

 private:
  const std::shared_ptr<Timeline> timeline_;
  const typename Timeline::Place place_;
  std::atomic<bool> followed_ = false, awaited_ = false;
};

}  // namespace cudascan::gst
