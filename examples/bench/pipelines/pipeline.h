// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <gst/gst.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "bench/pipelines/source.h"

namespace cudascan::bench {

inline constexpr char kCudaMemory[] = "(memory:CUDAMemory)";
inline constexpr char kQueue[] = "queue max-size-buffers=4 max-size-bytes=0 max-size-time=0";
/// For cameras, which must never wait: the queue drops the older of two frames.
inline constexpr char kLeakyQueue[] =
    "queue leaky=downstream max-size-buffers=2 max-size-bytes=0 max-size-time=0";

struct Launch {
  std::string chain;  ///< launch fragment between source and sink
  std::string format = "GRAY8";
  int width = 3840, height = 2160;
  int fps = 60;                    ///< in the caps; live sources follow it
  const char *in = "", *out = "";  ///< caps feature of source and sink
  std::string backend = "auto";    ///< of the elements that have the property
  int threads = 0;                 ///< the same; 0 = as many as there are cores
  int gpu = -1;                    ///< the same; -1 = any
  bool map = false;                ///< the sink waits for the result of every frame
  std::string before_sink;         ///< a queue, for a sink with a thread of its own
  SourceSettings source;
};

/// The same, with a thread after a queue that reads the results, as programs do.
inline Launch read_behind_queue(Launch launch) {
  launch.before_sink = kQueue;
  launch.map = true;
  return launch;
}

struct Unref {
  void operator()(gpointer object) const { gst_object_unref(object); }
};
template <typename T>
using Ref = std::unique_ptr<T, Unref>;

struct Arrival {
  std::uint64_t frame;  ///< number given by the source
  double us;            ///< steady clock
  double sensor_us;     ///< since the frame's timestamp; NaN unless the source is live
};

/// The elements' own counters, summed over the chain.
struct Counts {
  double host_synchronisations = 0, throttled = 0, peer_copies = 0;
};

/// One pipeline from kSource to a sink that drops the frames. All pipelines of the process share
/// the CUDA contexts, one for each GPU, of the first ones, as in an application.
class Pipeline {
 public:
  /// @throws Error when it cannot be made
  explicit Pipeline(const Launch &launch);
  ~Pipeline();
  Pipeline(const Pipeline &) = delete;
  Pipeline &operator=(const Pipeline &) = delete;

  /// Lets one frame reach the sink, which then waits for play().
  /// @throws Error when it does not start
  void pause() { set_state(GST_STATE_PAUSED); }
  /// @throws Error when it does not start
  void play() { set_state(GST_STATE_PLAYING); }
  /// Pauses the stream.
  void rest() { gst_element_set_state(pipeline_.get(), GST_STATE_PAUSED); }
  /// Throws the pipeline's error, if any.
  /// @return whether the stream has ended
  bool check();

  std::uint64_t frames() const;
  /// Forgets the arrivals so far.
  void clear();
  std::vector<Arrival> arrivals() const;
  bool unreadable() const;

  Counts counts() const;
  /// "cuda", "cpu" or "cuda, cpu"; empty if no element tells.
  std::string backend() const;
  std::string memory() const { return source_memory(source_.get()); }
  /// The `stats` of each element of the chain, one line each.
  std::string stats() const;

 private:
  void set_state(GstState state);
  static GstPadProbeReturn on_arrival(GstPad *, GstPadProbeInfo *info, gpointer self);
  void arrive(GstBuffer *buffer);
  std::vector<Ref<GstElement>> elements() const;  ///< from the source on

  Ref<GstElement> pipeline_, source_;
  Ref<GstBus> bus_;
  const guint map_flags_;  ///< 0 = do not map
  const bool live_;
  mutable std::mutex mutex_;
  std::vector<Arrival> arrivals_;
  std::uint64_t frames_ = 0;
  bool unreadable_ = false;
};

/// Releases the contexts that pipelines share.
void drop_shared_contexts();

}  // namespace cudascan::bench
