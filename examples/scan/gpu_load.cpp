// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gpu_load.h"

#include <algorithm>

#include "clock.h"
#include "common/error.h"

namespace cudascan::scan {
namespace {

constexpr std::chrono::milliseconds kEvery{2};

/// Whether the GPU, which must be current, has work of the stream.
bool has_work(const cuda::Stream &stream) {
  try {
    return !stream.done();
  } catch (const Error &) {  // the GPU has failed; its worker says so
    return false;
  }
}

bool make_current(int device) {
  try {
    cuda::use_device(device);
    return true;
  } catch (const Error &) {
    return false;
  }
}

}  // namespace

GpuLoad::~GpuLoad() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

GpuLoad::Watched::Watched(GpuLoad &load, int device, const cuda::Stream &stream)
    : load_(load), stream_(stream) {
  const std::lock_guard lock(load.mutex_);
  if (!load.thread_.joinable()) load.thread_ = std::thread([&load] { load.look(); });
  const auto after = std::find_if(load.entries_.begin(), load.entries_.end(),
                                  [&](const Entry &entry) { return entry.device > device; });
  load.entries_.insert(after, {device, &stream});
  load.changed_.notify_all();
}

GpuLoad::Watched::~Watched() {
  const std::lock_guard lock(load_.mutex_);
  std::erase_if(load_.entries_, [&](const Entry &entry) { return entry.stream == &stream_; });
}

void GpuLoad::begin() {
  const std::lock_guard lock(mutex_);
  seconds_.clear();
  counts_ = true;
  changed_.notify_all();
}

void GpuLoad::end() {
  const std::lock_guard lock(mutex_);
  counts_ = false;
  changed_.notify_all();
}

std::map<int, double> GpuLoad::seconds() const {
  const std::lock_guard lock(mutex_);
  return seconds_;
}

void GpuLoad::look() {
  std::unique_lock lock(mutex_);
  while (!ends_) {
    changed_.wait(lock, [&] { return ends_ || (counts_ && !entries_.empty()); });
    auto last = Clock::now();
    int current = -1;
    bool is_current = false;
    while (!ends_ && counts_ && !entries_.empty()) {
      changed_.wait_for(lock, kEvery, [&] { return ends_ || !counts_; });
      const auto now = Clock::now();
      const double passed = std::chrono::duration<double>(now - last).count();
      last = now;
      int busy = -1;
      for (const auto &[device, stream] : entries_) {
        if (device == busy) continue;  // one stream is enough
        if (device != current) is_current = make_current(device);
        current = device;
        if (!is_current || !has_work(*stream)) continue;
        seconds_[device] += passed;
        busy = device;
      }
    }
  }
}

}  // namespace cudascan::scan
