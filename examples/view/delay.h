// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Measures how long frames of live sources take until they could be shown.
#pragma once
#include <gst/gst.h>

#include <deque>
#include <mutex>
#include <vector>

namespace cudascan::view {

/// Watches finished frames on their way to the sink. Called by a streaming thread; the rest by any
/// other.
class Delay {
 public:
  /// Starts watching; the pipeline must outlive this object.
  /// @param queue  where finished frames wait for the thread that shows them
  Delay(GstElement *pipeline, GstElement *queue, GstElement *sink);
  ~Delay();
  Delay(const Delay &) = delete;
  Delay &operator=(const Delay &) = delete;

  /// Milliseconds from each frame's timestamp, when the camera took it, until its result can be
  /// read, the newest last; empty if the source is not live.
  std::vector<double> ms() const;
  /// The sink's answer to a LATENCY query: it shows each frame so many milliseconds after its
  /// timestamp, or as soon as it can if that is later. Negative: the source is not live, or the
  /// answer not known yet.
  double reported_ms() const;

 private:
  static GstPadProbeReturn on_frame(GstPad *pad, GstPadProbeInfo *info, gpointer self);
  void ask();

  GstElement *const pipeline_, *const sink_;
  GstPad *const queue_pad_, *const sink_pad_;
  gulong probe_;
  mutable std::mutex mutex_;
  std::deque<double> ms_;
  double reported_ms_ = -1;
  unsigned frames_ = 0;  // of the streaming thread
};

}  // namespace cudascan::view
