// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Plays a source through elements. It keeps running whatever happens: it takes back a setting that
/// an element refuses, waits for a lost camera, and starts a file again at its end.
#pragma once
#include <gst/gst.h>

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../elements.h"
#include "background.h"
#include "measured.h"
#include "pipeline.h"

namespace cudascan::view {

class Player {
 public:
  /// @param format  video format of the frames that the elements get
  explicit Player(const std::string &format);
  /// Waits some seconds for the pipeline to stop.
  ~Player();
  Player(const Player &) = delete;
  Player &operator=(const Player &) = delete;

  /// Called with a sentence when something has gone wrong, and with "" when it is fixed.
  std::function<void(const std::string &)> on_trouble;
  /// Called when there are other elements, and when a setting was taken back.
  std::function<void()> on_settings;

  /// Plays another source; without a launch line, nothing is played.
  /// @throws std::runtime_error with a sentence when its launch line is wrong
  void open(const Source &source);
  /// Uses these elements. Those that follow change one: its element, which keeps its settings from
  /// earlier use at this place; how many there are; a property; all properties.
  /// @throws std::runtime_error with a sentence when there is no such element, place or property,
  ///         or when the property refuses the text
  void use(const Chain &chain);
  void use(std::size_t place, const std::string &element);
  void add(const std::string &element);
  void remove(std::size_t place);  ///< one element always stays
  void set(std::size_t place, const std::string &name, const std::string &text);
  void reset(std::size_t place, const std::string &name);  ///< to its default
  void load_preset(std::size_t place, const std::string &name);

  void pause(bool paused);
  bool paused() const { return paused_; }
  void step();

  /// Handles the pipeline's messages; call it about ten times a second.
  void poll();

  const Source &source() const { return source_; }
  const Chain &chain() const { return chain_; }
  /// Lasts until the next change.
  /// @throws std::runtime_error when there is no such place
  GstElement *element(std::size_t place) const;
  std::shared_ptr<const Frame> frame() const;  ///< to show, or null
  /// By place; empty until the first report.
  const std::vector<Measured> &measured() const { return measured_; }
  std::array<std::uint32_t, 256> histogram() const;
  FrameTimes times() const;
  double rate() const;              ///< frames a second as the source declares, or 0
  guint64 frames() const;           ///< since the first start, of all pipelines
  std::string launch_line() const;  ///< for a shell: the same pipeline, shown by autovideosink
  bool failed() const { return failed_; }  ///< no more frames will come
  /// Waits some seconds until the last pipeline has stopped.
  /// @return whether it has: some cameras that lose each frame never stop
  bool stop();

 private:
  void build();
  void play();
  void close();
  void restart();
  void change(std::size_t place, const std::string &name, const Settings &next);
  void follow(std::size_t place);
  void handle_error(GstMessage *message);
  void wait_for_camera(const std::string &trouble);
  void watch_camera();
  bool start_again();
  bool handle(GstMessage *message);
  void tell(const std::string &trouble) const {
    if (on_trouble) on_trouble(trouble);
  }

  std::unique_ptr<Background> background_ = std::make_unique<Background>();
  const std::string format_;
  Source source_;
  std::shared_ptr<Pipeline> pipeline_;
  Chain chain_;
  std::vector<std::map<std::string, Settings>> kept_;  // of each place, by element
  struct {
    std::size_t place = 0;
    std::string name;  // "" = none
    Settings before{};
  } changed_;  // the last change
  bool paused_ = false, failed_ = false;
  bool pause_changed_ = false;  // while the pipeline was starting
  bool was_live_ = false;       // the last pipeline
  bool ended_ = false;          // and no frame has come since
  bool waiting_ = false;        // for a lost camera
  bool silent_ = false;         // the camera has given no frame for long, and the user was told
  gint64 retry_at_ = 0, last_frame_at_ = 0;
  GstClockTime continue_at_ = GST_CLOCK_TIME_NONE;  // after a restart
  guint64 last_frames_ = 0;
  guint64 had_frames_ = 0;  // from pipelines before this one
  guint64 frames_at_end_ = 0;
  std::vector<Measured> measured_;
};

}  // namespace cudascan::view
