// SPDX-License-Identifier: LGPL-2.1-or-later
#include "background.h"

#include <thread>

namespace cudascan::view {

bool Background::wait(std::chrono::seconds longest) const {
  std::unique_lock lock(state_->mutex);
  return state_->changed.wait_for(lock, longest, [this] { return state_->jobs.empty(); });
}

void Background::run(std::function<void()> job) {
  const std::lock_guard lock(state_->mutex);
  state_->jobs.push_back(std::move(job));
  if (state_->jobs.size() == 1) std::thread([state = state_] { work(*state); }).detach();
}

bool Background::busy() const {
  const std::lock_guard lock(state_->mutex);
  return !state_->jobs.empty();
}

void Background::work(State &state) {
  std::unique_lock lock(state.mutex);
  while (!state.jobs.empty()) {
    std::function<void()> &job =
        state.jobs.front();  // its address stays valid when others are added
    lock.unlock();
    job();
    job = nullptr;
    lock.lock();
    state.jobs.pop_front();
  }
  state.changed.notify_all();
}

}  // namespace cudascan::view
