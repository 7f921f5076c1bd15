// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "kernels/cuda_resources.h"

namespace cudascan::scan {

/// How long GPUs have had work: a thread looks every 2 ms whether a stream has work that is not
/// done. Times between events would count what the host does between two kernels, too. Any thread.
class GpuLoad {
 public:
  GpuLoad() = default;
  ~GpuLoad();
  GpuLoad(const GpuLoad &) = delete;
  GpuLoad &operator=(const GpuLoad &) = delete;

  /// Counts from 0, until end().
  void begin();
  /// Looks at no stream until begin().
  void end();
  /// Includes a stream as long as it lives, which must be shorter than the stream does.
  class Watched {
   public:
    Watched(GpuLoad &load, int device, const cuda::Stream &stream);
    ~Watched();
    Watched(const Watched &) = delete;
    Watched &operator=(const Watched &) = delete;

   private:
    GpuLoad &load_;
    const cuda::Stream &stream_;
  };

  /// Seconds in which each GPU had work since begin(); nothing of GPUs without work.
  std::map<int, double> seconds() const;

 private:
  struct Entry {
    int device;
    const cuda::Stream *stream;
  };
  void look();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool ends_ = false, counts_ = false;
  std::vector<Entry> entries_;  ///< by device
  std::map<int, double> seconds_;
  std::thread thread_;  ///< begins with the first stream
};

}  // namespace cudascan::scan
