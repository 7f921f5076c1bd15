// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Long work in a thread of its own, so that the window does not wait.
#pragma once
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

namespace cudascan::view {

/// Does jobs one after another, in order, in a thread that lives as long as there are jobs. A job
/// must own everything it needs: the thread finishes the jobs even if this object is gone.
class Background {
 public:
  Background() = default;
  Background(const Background &) = delete;
  Background &operator=(const Background &) = delete;

  void run(std::function<void()> job);
  /// Whether there are unfinished jobs.
  bool busy() const;
  /// Waits for the jobs, but no longer than this.
  /// @return whether they are finished
  bool wait(std::chrono::seconds longest) const;

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::function<void()>> jobs;  // the first one is running
  };
  static void work(State &state);

  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace cudascan::view
