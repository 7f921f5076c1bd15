// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <gst/gst.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <utility>

namespace cudascan::gst {

/// The data of the `stats` property. Shared by an element and the memory it gave away, which may
/// outlive it; any thread may use it.
class Stats {
 public:
  enum Stage { kernel, upload, download, kStages };

  void reset() {
    std::lock_guard lock(mutex_);
    times_ = {};
    frames_ = dropped_ = host_synchronisations_ = throttled_ = peer_copies_ = 0;
    failure_.clear();
  }

  void add_frame() { ++frames_; }
  void add_dropped() { ++dropped_; }
  /// A thread of the host is about to sleep until the GPU is done with something.
  void add_host_synchronisation() { ++host_synchronisations_; }
  /// The same, not for a result, but because enough frames are in flight.
  void add_throttled() { ++throttled_; }
  /// A frame was copied from the memory of another context, usually that of another GPU.
  void add_peer_copy() { ++peer_copies_; }

  void add_time(Stage stage, double ns) {
    std::lock_guard lock(mutex_);
    Times &t = times_[stage];
    ++t.count;
    t.sum += ns;
    t.maximum = std::max(t.maximum, ns);
  }

  /// An error found where it cannot be reported, in another element's thread.
  void set_failure(const std::string &what) {
    std::lock_guard lock(mutex_);
    failure_ = what;
  }
  /// Returns that error once; empty if there was none.
  std::string take_failure() {
    std::lock_guard lock(mutex_);
    return std::exchange(failure_, {});
  }

  GstStructure *to_structure() const {
    static constexpr const char *kNames[kStages][2] = {{"kernel-mean", "kernel-max"},
                                                       {"upload-mean", "upload-max"},
                                                       {"download-mean", "download-max"}};
    GstStructure *s = gst_structure_new(
        "cudascan-stats", "frames", G_TYPE_UINT64, frames_.load(), "dropped", G_TYPE_UINT64,
        dropped_.load(), "host-synchronisations", G_TYPE_UINT64, host_synchronisations_.load(),
        "throttled", G_TYPE_UINT64, throttled_.load(), "peer-copies", G_TYPE_UINT64,
        peer_copies_.load(), nullptr);
    std::lock_guard lock(mutex_);
    for (int i = 0; i < kStages; ++i) {
      const Times &t = times_[i];
      const auto mean = static_cast<guint64>(t.count ? t.sum / t.count + 0.5 : 0);
      gst_structure_set(s, kNames[i][0], G_TYPE_UINT64, mean, kNames[i][1], G_TYPE_UINT64,
                        static_cast<guint64>(t.maximum + 0.5), nullptr);
    }
    return s;
  }

 private:
  struct Times {
    guint64 count = 0;
    double sum = 0;
    double maximum = 0;
  };
  mutable std::mutex mutex_;
  std::array<Times, kStages> times_{};
  std::string failure_;
  std::atomic<guint64> frames_ = 0, dropped_ = 0, host_synchronisations_ = 0, throttled_ = 0,
                       peer_copies_ = 0;
};

}  // namespace cudascan::gst
