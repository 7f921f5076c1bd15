// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The pipeline of the viewer, which goes on whatever happens: a setting that the element refuses is taken
/// back, a camera that has gone is waited for, a file that has ended starts anew.
#pragma once
#include <gst/gst.h>

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "../elements.h"
#include "background.h"
#include "plots.h"
#include "settings.h"
#include "source.h"
#include "wipe.h"

namespace cudascan::view {

class Player {
 public:
  /// @param sink  shows the frames; kept, and used in one pipeline after the other
  Player(const Source &source, const std::string &format, GstElement *sink);
  ~Player();
  Player(const Player &) = delete;
  Player &operator=(const Player &) = delete;

  /// Called with a sentence when something has gone wrong, and with "" when it is well again.
  std::function<void(const std::string &)> on_trouble;
  /// Called after another element has taken the place of the one before, and after a setting was taken
  /// back.
  std::function<void()> on_settings;

  /// Starts with an element, which keeps the settings that it had here before.
  /// @throws std::runtime_error when there is no such element, or the launch line makes no sense
  void use(const std::string &element);
  /// @throws std::runtime_error with a sentence when the property does not take the text
  void set(const std::string &name, const std::string &text);
  void set_divider(double share);

  /// Does what messages of the pipeline ask for; to be called some ten times a second.
  void poll();

  GstElement *element() const { return element_; }
  const std::string &element_name() const { return name_; }
  const Wipe &wipe() const { return *wipe_; }
  const Measured &measured() const { return measured_; }
  double divider() const { return divider_; }
  guint64 frames() const;                  ///< since the first start, of all elements
  double rate() const;                     ///< frames a second that the source states, or 0
  std::string launch_line() const;         ///< for a shell: the same, shown by autovideosink
  bool failed() const { return failed_; }  ///< nothing more will come

 private:
  void build();
  void play();
  void stop();
  void restart();
  void take_report(const GstStructure &report);
  void handle_error(GstMessage *message);
  void wait_for_camera(const std::string &trouble);
  void watch_camera();
  /// From the beginning, where the source has ended.
  /// @return whether in another pipeline
  bool start_again();
  static GstPadProbeReturn on_event(GstPad *pad, GstPadProbeInfo *info, gpointer self);

  Background background_;  // a camera that is gone takes long to be closed, and to be looked for
  const Source source_;
  const std::string format_;
  GstElement *const sink_;
  GstElement *pipeline_ = nullptr, *element_ = nullptr;
  std::unique_ptr<Wipe> wipe_;
  std::string name_;
  std::map<std::string, Settings> settings_;  // of each element
  std::string changed_, before_;              // the last change, and what it was
  double divider_ = 0.5;
  bool dragging_ = false, failed_ = false;
  bool ended_ = false;    // and nothing has come since
  bool waiting_ = false;  // for a camera that was there before
  gint64 retry_at_ = 0, last_frame_at_ = 0;
  guint64 last_frames_ = 0;
  guint64 had_frames_ = 0;  // from pipelines before this one
  guint64 frames_at_end_ = 0;
  Measured measured_;
};

}  // namespace cudascan::view
