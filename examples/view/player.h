// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The pipeline of the viewer. It keeps running whatever happens: it takes back a setting that the
/// element refuses, waits for a lost camera, and starts a file again at its end.
#pragma once
#include <gst/gst.h>

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "../elements.h"
#include "background.h"
#include "delay.h"
#include "plots.h"
#include "settings.h"
#include "source.h"
#include "wipe.h"

namespace cudascan::view {

class Player {
 public:
  /// @param sink  shows the frames; it is reused by all pipelines, one after another
  Player(const Source &source, const std::string &format, GstElement *sink);
  ~Player();
  Player(const Player &) = delete;
  Player &operator=(const Player &) = delete;

  /// Called with a sentence when something has gone wrong, and with "" when it is fixed.
  std::function<void(const std::string &)> on_trouble;
  /// Called when the element was replaced by another, and when a setting was taken back.
  std::function<void()> on_settings;

  /// Starts with an element; it keeps its settings from earlier use in this viewer.
  /// @throws std::runtime_error when there is no such element, or the launch line is wrong
  void use(const std::string &element);
  /// @throws std::runtime_error with a sentence when the property refuses the text
  void set(const std::string &name, const std::string &text);
  void set_divider(double share);

  /// Handles the pipeline's messages; call it about ten times a second.
  void poll();

  GstElement *element() const { return element_; }
  const std::string &element_name() const { return name_; }
  const Wipe &wipe() const { return *wipe_; }
  FrameTimes times() const;  ///< of the element and the sink
  const Measured &measured() const { return measured_; }
  double divider() const { return divider_; }
  guint64 frames() const;           ///< since the first start, of all elements
  double rate() const;              ///< frames a second as the source declares, or 0
  std::string launch_line() const;  ///< for a shell: the same pipeline, shown by autovideosink
  bool failed() const { return failed_; }  ///< no more frames will come

 private:
  void build();
  void play();
  void stop();
  void restart();
  void take_report(const GstStructure &report);
  void handle_error(GstMessage *message);
  void wait_for_camera(const std::string &trouble);
  void watch_camera();
  /// Restarts a source that has ended.
  /// @return whether that needed another pipeline
  bool start_again();
  static GstPadProbeReturn on_event(GstPad *pad, GstPadProbeInfo *info, gpointer self);

  Background background_;  // closing and finding a lost camera takes long
  const Source source_;
  const std::string format_;
  GstElement *const sink_;
  GstElement *pipeline_ = nullptr, *element_ = nullptr;
  std::unique_ptr<Wipe> wipe_;
  std::unique_ptr<Delay> delay_;
  std::string name_;
  std::map<std::string, Settings> settings_;  // of each element
  std::string changed_, before_;              // the last change, and the value before it
  double divider_ = 0.5;
  bool dragging_ = false, failed_ = false;
  bool ended_ = false;    // and no frame has come since
  bool waiting_ = false;  // for a lost camera
  gint64 retry_at_ = 0, last_frame_at_ = 0;
  guint64 last_frames_ = 0;
  guint64 had_frames_ = 0;  // from pipelines before this one
  guint64 frames_at_end_ = 0;
  Measured measured_;
};

}  // namespace cudascan::view
