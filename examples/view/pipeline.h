// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// A source, elements in a row, and a sink that keeps the frame to show.
#pragma once
#include <gst/gst.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "chain.h"
#include "delay.h"
#include "frame.h"
#include "gate.h"
#include "pairs.h"
#include "source.h"

namespace cudascan::view {

class Pipeline {
 public:
  /// Does not start it.
  /// @throws std::runtime_error when the launch line or a setting is wrong
  Pipeline(const Source &source, const std::string &format, const Chain &chain);
  /// Stops it, which takes long for a camera that is gone; some never stop.
  ~Pipeline();
  Pipeline(const Pipeline &) = delete;
  Pipeline &operator=(const Pipeline &) = delete;

  /// Starts it. This takes long for a camera that is gone.
  /// @param live  whether the source is live, which is_live() does not know yet
  void start(bool paused, bool live);
  /// Stops or continues; a live source goes on, but its current frame stays.
  void pause(bool paused);
  void step();  ///< to the next frame of a paused pipeline
  /// Makes the current frame once more; needed after changes while paused.
  void refresh();
  /// @return whether the source can do that
  bool seek(GstClockTime stream_time);

  GstBus *bus() const { return GST_ELEMENT_BUS(pipeline_); }
  GstElement *element(std::size_t i) const { return elements_[i]; }
  /// The number of the element that sent a message, if it was one of the chain.
  std::optional<std::size_t> sender(const GstMessage *message) const;
  const Pairs &pairs() const { return *pairs_; }
  const Delay &delay() const { return *delay_; }
  std::shared_ptr<const Frame> frame() const;  ///< the one to show, or null
  double rate() const;                         ///< frames a second as the source declares, or 0

  /// Known after the first frame.
  bool is_live() const;

 private:
  static void on_frame(GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer self);

  const Source source_;
  GstElement *pipeline_, *sink_;
  std::vector<GstElement *> elements_;
  std::unique_ptr<Pairs> pairs_;
  std::unique_ptr<Delay> delay_;
  std::unique_ptr<Gate> gate_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Frame> frame_;
};

}  // namespace cudascan::view
