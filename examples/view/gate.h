// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Holds a frame of a live source, which cannot be paused.
#pragma once
#include <gst/gst.h>

#include <mutex>

namespace cudascan::view {

/// While it is closed, the frames of a pad are replaced by the last one that passed. So elements
/// after it go on working on that frame, and new settings show at once. Called by a streaming
/// thread; close(), open() and step() by any other.
class Gate {
 public:
  explicit Gate(GstPad *pad);
  ~Gate();
  Gate(const Gate &) = delete;
  Gate &operator=(const Gate &) = delete;

  void close();
  void open();
  void step();  ///< lets one more frame pass

 private:
  static GstPadProbeReturn on_frame(GstPad *pad, GstPadProbeInfo *info, gpointer self);

  GstPad *const pad_;
  gulong probe_;
  std::mutex mutex_;
  bool closed_ = false;
  GstBuffer *held_ = nullptr;
};

}  // namespace cudascan::view
