// SPDX-License-Identifier: LGPL-2.1-or-later
#include "crew.h"

#include <algorithm>
#include <utility>

namespace cudascan::scan {

void Bench::open() {
  if (!cleaner_) cleaner_ = make_cleaner(gpus_);
  if (!buffers_) buffers_.emplace(kinds_, gpus_ != nullptr);
}

void Bench::clear() {
  buffers_.reset();
  cleaner_.reset();
  largest_ = 0;
}

Crew::~Crew() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  for (Member &member : members_)
    if (member.thread.joinable()) member.thread.join();
}

void Crew::begin(int count, Work work) {
  while (static_cast<int>(members_.size()) < count) {
    Member &member = members_.emplace_back(gpus_, kinds_);
    try {
      member.thread = std::thread([this, &member] { stay(member); });
    } catch (...) {
      members_.pop_back();
      throw;
    }
  }
  const std::lock_guard lock(mutex_);
  work_ = std::move(work);
  at_work_ = count;
  for (int i = 0; i < count; ++i) members_[static_cast<std::size_t>(i)].has_work = true;
  changed_.notify_all();
}

void Crew::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return at_work_ == 0; });
  work_ = nullptr;
}

double Crew::largest() const {
  double largest = 0;
  for (const Member &member : members_) largest = std::max(largest, member.bench.largest());
  return largest;
}

void Crew::stay(Member &member) {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return ends_ || member.has_work; });
    if (!member.has_work) break;
    lock.unlock();
    work_(member.bench);
    lock.lock();
    member.has_work = false;
    if (--at_work_ == 0) changed_.notify_all();
  }
  lock.unlock();
  member.bench.clear();
}

}  // namespace cudascan::scan
