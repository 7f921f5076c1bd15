// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Work that may take long, in a thread beside the window's.
#pragma once
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

namespace cudascan::view {

/// Does one job after the other, in the order in which they come, in a thread that is there as long as they
/// are. What a job needs is its own.
class Background {
 public:
  Background() = default;
  /// Waits for the jobs, but for no longer than `kLongest`; the rest is left to the thread.
  ~Background();
  Background(const Background &) = delete;
  Background &operator=(const Background &) = delete;

  void run(std::function<void()> job);
  /// Whether there are jobs that have not ended.
  bool busy() const;

 private:
  static constexpr std::chrono::seconds kLongest{5};
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::function<void()>> jobs;  // the first one is in work
  };
  static void work(State &state);

  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace cudascan::view
