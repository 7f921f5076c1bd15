// SPDX-License-Identifier: LGPL-2.1-or-later
#include "player.h"

#include <algorithm>
#include <stdexcept>

namespace cudascan::view {
namespace {

constexpr gint64 kRetryEvery = G_USEC_PER_SEC;
constexpr gint64 kPatience = 3 * G_USEC_PER_SEC;       // with a camera that sends no more frames
constexpr gint64 kFirstPatience = 5 * G_USEC_PER_SEC;  // with one that has not sent any
constexpr std::chrono::seconds kLongestStop{5};

std::string sentence(const std::string &text) {
  return text + (text.ends_with(".") ? "" : ".");
}

/// Drops settings that make no difference.
void drop_defaults(GstElement *element, Settings &settings) {
  for (std::size_t i = settings.size(); i-- > 0;) {
    const auto [name, text] = settings[i];
    Settings without = settings;
    without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
    if (value_of(values_with(element, without), name) == text) settings = without;
  }
}

}  // namespace

Player::Player(const std::string &format) : format_(format) {}

Player::~Player() {
  stop();
}

bool Player::stop() {
  close();
  return background_->wait(kLongestStop);
}

void Player::open(const Source &source) {
  const Source before = source_;
  close();
  // A camera that gives no frames may never stop, so nothing waits for it.
  if (silent_ || waiting_) background_ = std::make_unique<Background>();
  source_ = source;
  was_live_ = source.is_live;
  continue_at_ = GST_CLOCK_TIME_NONE;
  changed_.name.clear();
  paused_ = failed_ = waiting_ = silent_ = false;
  try {
    build();
  } catch (const std::exception &) {
    source_ = before;
    build();
    play();
    throw;
  }
  play();
  tell("");
}

void Player::use(const Chain &chain) {
  if (chain.empty()) throw std::runtime_error("there must be an element");
  for (const Stage &stage : chain) check_element(stage.element);
  const Chain before = chain_;
  if (pipeline_) close();
  chain_ = chain;
  try {
    build();
  } catch (const std::exception &) {
    chain_ = before;
    if (!before.empty()) {
      build();
      play();
    }
    throw;
  }
  for (std::size_t i = 0; i < chain_.size(); ++i) {
    // In the element's own words, such as 0.5 for .5.
    for (auto &[name, text] : chain_[i].settings)
      text = value_of(values_with(element(i), chain_[i].settings), name);
    drop_defaults(element(i), chain_[i].settings);
  }
  kept_.resize(chain_.size());
  changed_.name.clear();
  measured_ = {};
  play();
  if (on_settings) on_settings();
}

void Player::use(std::size_t place, const std::string &element) {
  check_element(element);
  this->element(place);  // it exists
  Chain next = chain_;
  kept_[place][next[place].element] = next[place].settings;
  next[place] = {element, kept_[place][element]};
  use(next);
}

void Player::add(const std::string &element) {
  Chain next = chain_;
  next.push_back({element});
  use(next);
}

void Player::remove(std::size_t place) {
  Chain next = chain_;
  if (place >= next.size() || next.size() == 1)
    throw std::runtime_error("element " + std::to_string(place + 1) + " cannot be removed");
  next.erase(next.begin() + static_cast<std::ptrdiff_t>(place));
  kept_.erase(kept_.begin() + static_cast<std::ptrdiff_t>(place));
  use(next);
}

void Player::build() {
  // Without a source, the elements are there to be set.
  Source source = source_;
  if (source.launch.empty()) source.launch = "videotestsrc";
  pipeline_ = std::make_shared<Pipeline>(source, format_, chain_);
  retry_at_ = 0;
  ended_ = false;
  last_frames_ = frames_at_end_ = 0;
}

void Player::play() {
  failed_ = false;
  if (source_.launch.empty()) return;
  last_frame_at_ = 0;
  background_->run([pipeline = pipeline_, paused = paused_, live = was_live_ || source_.is_live] {
    pipeline->start(paused, live);
  });
}

void Player::close() {
  if (!pipeline_) return;
  had_frames_ += pipeline_->pairs().times().out;
  was_live_ = pipeline_->is_live();
  // Its last owner stops it.
  background_->run([pipeline = std::move(pipeline_)]() mutable { pipeline.reset(); });
  pipeline_ = nullptr;
}

void Player::restart() {
  const std::shared_ptr<const Frame> shown = frame();
  if (shown && !pipeline_->is_live()) continue_at_ = shown->stream_time();
  close();
  build();
  play();
}

GstElement *Player::element(std::size_t place) const {
  if (place >= chain_.size())
    throw std::runtime_error("there is no element " + std::to_string(place + 1));
  return pipeline_->element(place);
}

void Player::set(std::size_t place, const std::string &name, const std::string &text) {
  GstElement *const element = this->element(place);
  set_property(element, name, text);
  Settings next = chain_[place].settings;
  drop(next, name);  // the order counts: one setting may imply another
  next.emplace_back(name, text);
  next.back().second = value_of(values_with(element, next), name);
  change(place, name, next);
}

void Player::reset(std::size_t place, const std::string &name) {
  if (!g_object_class_find_property(G_OBJECT_GET_CLASS(element(place)), name.c_str()))
    throw std::runtime_error("reset=" + name + ": " + chain_[place].element +
                             " has no such property");
  Settings next = chain_[place].settings;
  drop(next, name);
  change(place, name, next);
}

/// Takes over settings that differ in one property and in what it implies.
void Player::change(std::size_t place, const std::string &name, const Settings &next) {
  changed_ = {place, name, chain_[place].settings};
  chain_[place].settings = next;
  follow(place);
  GParamSpec *property =
      g_object_class_find_property(G_OBJECT_GET_CLASS(element(place)), name.c_str());
  // These take effect at the next start.
  if (failed_ || property->flags & (GST_PARAM_MUTABLE_READY | GST_PARAM_MUTABLE_PAUSED))
    restart();
  else if (paused_)
    pipeline_->refresh();
}

/// Gives the element the values that a new one has with the settings.
void Player::follow(std::size_t place) {
  drop_defaults(element(place), chain_[place].settings);
  for (const auto &[name, text] : values_with(element(place), chain_[place].settings)) {
    GParamSpec *property =
        g_object_class_find_property(G_OBJECT_GET_CLASS(element(place)), name.c_str());
    if (text_of(element(place), property) != text) set_property(element(place), name, text);
  }
}

void Player::load_preset(std::size_t place, const std::string &name) {
  GstElement *const element = this->element(place);
  GstPreset *const preset = GST_IS_PRESET(element) ? GST_PRESET(element) : nullptr;
  g_auto(GStrv) presets = preset ? gst_preset_get_preset_names(preset) : nullptr;
  if (!presets || !g_strv_contains(presets, name.c_str()))
    throw std::runtime_error("preset=" + name + ": " + chain_[place].element +
                             " has no such preset");
  changed_.name.clear();
  Settings &settings = chain_[place].settings;
  g_auto(GStrv) names = gst_preset_get_property_names(preset);
  // What the preset does not have gets its default.
  for (gchar **one = names; *one; ++one) drop(settings, *one);
  follow(place);
  if (!gst_preset_load_preset(preset, name.c_str()))
    throw std::runtime_error("preset=" + name + ": it cannot be loaded");
  for (gchar **one = names; *one; ++one)
    settings.emplace_back(
        *one, text_of(element, g_object_class_find_property(G_OBJECT_GET_CLASS(element), *one)));
  follow(place);
  if (failed_)
    restart();
  else if (paused_)
    pipeline_->refresh();
}

void Player::pause(bool paused) {
  if (paused_ == paused) return;
  paused_ = paused;
  pause_changed_ = true;  // poll() tells the pipeline
}

void Player::step() {
  if (!paused_)
    pause(true);
  else if (!background_->busy())
    pipeline_->step();
}

void Player::handle_error(GstMessage *message) {
  g_autoptr(GError) error = nullptr;
  gst_message_parse_error(message, &error, nullptr);
  std::string trouble = error->message;
  const auto [place, name, before] = changed_;
  if (pipeline_->sender(message) == place && !name.empty()) {
    chain_[place].settings = before;
    changed_.name.clear();
    restart();
    const std::string value = value_of(values_with(element(place), before), name);
    trouble =
        sentence(trouble) + " " + name + " was reset to " + (value.empty() ? "empty" : value) + ".";
    if (on_settings) on_settings();
  } else if (source_.is_live && frames() > 0) {
    wait_for_camera(trouble);
    return;
  } else {
    close();
    build();  // so that there are elements to set properties on
    failed_ = true;
    if (!source_.name.empty() && trouble.find(source_.name) == std::string::npos)
      trouble = source_.name + ": " + trouble;
  }
  tell(trouble);
}

void Player::wait_for_camera(const std::string &trouble) {
  close();
  build();
  retry_at_ = g_get_monotonic_time() + kRetryEvery;
  if (!waiting_) tell(sentence(trouble) + " Trying again every second.");
  waiting_ = true;
}

void Player::watch_camera() {
  const guint64 frames = pipeline_->pairs().times().out;
  const gint64 now = g_get_monotonic_time();
  if (frames != last_frames_ || last_frame_at_ == 0) {
    last_frames_ = frames;
    last_frame_at_ = now;
    if ((waiting_ || silent_) && frames > 0) {
      waiting_ = silent_ = false;
      tell("");
    }
  } else if (retry_at_ == 0 && this->frames() > 0 && now - last_frame_at_ > kPatience) {
    last_frame_at_ = 0;
    wait_for_camera("The camera gives no frames.");
  } else if (this->frames() == 0 && !silent_ && now - last_frame_at_ > kFirstPatience) {
    silent_ = true;
    tell("No whole frame for 5 s. Packets may be lost, or the camera waits for a trigger.");
  }
}

/// Starts a source that has ended from its beginning. Returns whether that needed another pipeline.
bool Player::start_again() {
  const guint64 frames = pipeline_->pairs().times().out;
  const bool gave_frames = frames > frames_at_end_;
  const bool never = this->frames() == 0;
  // A second end without a frame in between: the source cannot seek, but it may be opened again.
  if (never || (!gave_frames && ended_)) {
    failed_ = true;
    tell(never ? "The source contains no picture."
               : "The source has ended and cannot be restarted.");
    return false;
  }
  frames_at_end_ = frames;
  if (gave_frames && pipeline_->seek(0)) {
    ended_ = false;
    return false;
  }
  // A new pipeline, because the links of decoders in the old one cannot be changed.
  close();
  build();
  play();
  ended_ = !gave_frames;
  return true;
}

/// Returns whether there is another pipeline now.
bool Player::handle(GstMessage *message) {
  switch (GST_MESSAGE_TYPE(message)) {
    case GST_MESSAGE_ERROR:
      handle_error(message);
      return true;
    case GST_MESSAGE_EOS:
      return start_again();
    default:
      break;
  }
  const bool is_16_bit = format_.find("16") != std::string::npos || format_.starts_with("P0");
  const GstStructure *report = gst_message_get_structure(message);
  if (const auto place = pipeline_->sender(message); report && place) {
    measured_.resize(chain_.size());
    measured_[*place] = measured_of(*report, is_16_bit ? 256 : 1);
  }
  return false;
}

void Player::poll() {
  // While a camera is looked for, its element may be locked.
  if (!pipeline_ || background_->busy()) {
    last_frame_at_ = 0;
    return;
  }
  if (retry_at_ > 0 && g_get_monotonic_time() >= retry_at_) {
    retry_at_ = 0;
    play();
    return;
  }
  constexpr auto kTypes =
      static_cast<GstMessageType>(GST_MESSAGE_ERROR | GST_MESSAGE_EOS | GST_MESSAGE_ELEMENT);
  while (GstMessage *message = gst_bus_pop_filtered(pipeline_->bus(), kTypes)) {
    const bool replaced = handle(message);
    gst_message_unref(message);
    if (replaced) return;
  }
  if (pause_changed_) pipeline_->pause(paused_);
  pause_changed_ = false;
  if (GST_CLOCK_TIME_IS_VALID(continue_at_) && pipeline_->frame()) {
    pipeline_->seek(continue_at_);
    continue_at_ = GST_CLOCK_TIME_NONE;
  }
  if (source_.is_live && !failed_) watch_camera();
}

std::shared_ptr<const Frame> Player::frame() const {
  return pipeline_ ? pipeline_->frame() : nullptr;
}

std::array<std::uint32_t, 256> Player::histogram() const {
  return pipeline_->pairs().histogram();
}

guint64 Player::frames() const {
  return had_frames_ + (pipeline_ ? pipeline_->pairs().times().out : 0);
}

FrameTimes Player::times() const {
  FrameTimes times = pipeline_->pairs().times();
  times.latency_ms = pipeline_->delay().ms();
  times.reported_ms = pipeline_->delay().reported_ms();
  return times;
}

double Player::rate() const {
  return pipeline_->rate();
}

std::string Player::launch_line() const {
  const std::string source = source_.launch.empty() ? "v4l2src" : source_.line();
  return "gst-launch-1.0 " + source + " ! videoconvert ! video/x-raw,format=" + format_ + " ! " +
         launch_of(chain_) + " ! videoconvert ! autovideosink";
}

}  // namespace cudascan::view
