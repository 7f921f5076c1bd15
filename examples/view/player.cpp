// SPDX-License-Identifier: LGPL-2.1-or-later
#include "player.h"

#include <gst/video/navigation.h>

#include <algorithm>
#include <stdexcept>

namespace cudascan::view {
namespace {

constexpr gint64 kRetryEvery = G_USEC_PER_SEC;
constexpr gint64 kPatience = 3 * G_USEC_PER_SEC;  // with a camera that sends no frames

std::vector<double> numbers(const GstStructure &structure, const char *field) {
  std::vector<double> result;
  const GValue *array = gst_structure_get_value(&structure, field);
  if (!array) return result;
  const auto append = [&](const GValue *value) {
    GValue number = G_VALUE_INIT;
    g_value_init(&number, G_TYPE_DOUBLE);
    if (g_value_transform(value, &number)) result.push_back(g_value_get_double(&number));
    g_value_unset(&number);
  };
  if (GST_VALUE_HOLDS_ARRAY(array))
    for (guint i = 0; i < gst_value_array_get_size(array); ++i)
      append(gst_value_array_get_value(array, i));
  else
    append(array);
  return result;
}

}  // namespace

Player::Player(const Source &source, const std::string &format, GstElement *sink)
    : source_(source), format_(format), sink_(GST_ELEMENT(gst_object_ref_sink(sink))) {}

Player::~Player() {
  stop();
  gst_object_unref(sink_);
}

void Player::use(const std::string &element) {
  check_element(element);
  stop();
  name_ = element;
  changed_.clear();
  measured_ = {};
  build();
  play();
  if (on_settings) on_settings();
}

void Player::build() {
  // Old frames of a camera are dropped for newer ones.
  const std::string launch =
      source_.launch + (source_.device.empty() ? "" : " name=camera") +
      " ! queue max-size-buffers=3 max-size-bytes=0 max-size-time=0" +
      (source_.is_live ? " leaky=downstream" : "") +
      " ! videoconvert ! video/x-raw,format=" + format_ + " ! " + name_ +
      " name=viewed report=message ! video/x-raw,format=" + format_ +
      " ! queue name=ready max-size-buffers=3 max-size-bytes=0 max-size-time=0" +
      " ! videoconvert name=last";
  g_autoptr(GError) error = nullptr;
  GstElement *bin =
      gst_parse_launch_full(launch.c_str(), nullptr, GST_PARSE_FLAG_FATAL_ERRORS, &error);
  if (!bin) throw std::runtime_error(error ? error->message : "the source cannot be parsed");
  pipeline_ = GST_ELEMENT(gst_object_ref_sink(bin));
  element_ = gst_bin_get_by_name(GST_BIN(pipeline_), "viewed");
  gst_bin_add(GST_BIN(pipeline_), sink_);
  GstElement *last = gst_bin_get_by_name(GST_BIN(pipeline_), "last");
  gst_element_link(last, sink_);
  // The sink sends mouse events to the upstream pad.
  GstPad *pad = gst_element_get_static_pad(last, "src");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_EVENT_UPSTREAM, on_event, this, nullptr);
  gst_object_unref(pad);
  gst_object_unref(last);

  for (const auto &[name, text] : settings_[name_]) set_property(element_, name, text);
  wipe_ = std::make_unique<Wipe>(element_);
  wipe_->set_divider(divider_);
  GstElement *ready = gst_bin_get_by_name(GST_BIN(pipeline_), "ready");
  delay_ = std::make_unique<Delay>(pipeline_, ready, sink_);
  gst_object_unref(ready);
  retry_at_ = 0;
  ended_ = false;
  frames_at_end_ = 0;
}

void Player::play() {
  const auto play = [pipeline = pipeline_, property = source_.property, device = source_.device] {
    if (!device.empty()) {
      GstElement *camera = gst_bin_get_by_name(GST_BIN(pipeline), "camera");
      g_object_set(camera, property.c_str(), device.c_str(), nullptr);
      gst_object_unref(camera);
    }
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    gst_object_unref(pipeline);
  };
  gst_object_ref(pipeline_);
  if (source_.is_live)
    background_.run(play);
  else
    play();
}

void Player::stop() {
  if (!pipeline_) return;
  had_frames_ += wipe_->times().out;
  // The sink is used in the next pipeline, too, so it must outlive this one.
  gst_element_set_locked_state(sink_, TRUE);
  gst_element_set_state(sink_, GST_STATE_NULL);
  gst_bin_remove(GST_BIN(pipeline_), sink_);
  gst_element_set_locked_state(sink_, FALSE);
  // Streaming threads call these two until the pipeline has stopped.
  auto close = [pipeline = pipeline_, element = element_,
                wipe = std::shared_ptr<Wipe>(std::move(wipe_)),
                delay = std::shared_ptr<Delay>(std::move(delay_))]() mutable {
    gst_element_set_state(pipeline, GST_STATE_NULL);
    wipe.reset();
    delay.reset();
    gst_object_unref(element);
    gst_object_unref(pipeline);
  };
  if (source_.is_live)
    background_.run(std::move(close));
  else
    close();
  pipeline_ = element_ = nullptr;
}

void Player::restart() {
  stop();
  build();
  play();
}

void Player::set(const std::string &name, const std::string &text) {
  GParamSpec *property = g_object_class_find_property(G_OBJECT_GET_CLASS(element_), name.c_str());
  const std::string before = property && has_text(property) ? text_of(element_, property) : "";
  set_property(element_, name, text);
  changed_ = name;
  before_ = before;
  settings_[name_] = settings_of(element_);
  if (property->flags & (GST_PARAM_MUTABLE_READY | GST_PARAM_MUTABLE_PAUSED))
    restart();  // these take effect at the next start
}

void Player::set_divider(double share) {
  divider_ = std::clamp(share, 0.0, 1.0);
  if (wipe_) wipe_->set_divider(divider_);
}

GstPadProbeReturn Player::on_event(GstPad *pad, GstPadProbeInfo *info, gpointer user) {
  auto &self = *static_cast<Player *>(user);
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT(info);
  if (GST_EVENT_TYPE(event) != GST_EVENT_NAVIGATION) return GST_PAD_PROBE_OK;
  gdouble x = 0, y = 0;
  gint button = 0;
  switch (gst_navigation_event_get_type(event)) {
    case GST_NAVIGATION_EVENT_MOUSE_BUTTON_PRESS:
      self.dragging_ = gst_navigation_event_parse_mouse_button_event(event, &button, &x, &y);
      break;
    case GST_NAVIGATION_EVENT_MOUSE_BUTTON_RELEASE:
      self.dragging_ = false;
      return GST_PAD_PROBE_OK;
    case GST_NAVIGATION_EVENT_MOUSE_MOVE:
      gst_navigation_event_parse_mouse_move_event(event, &x, &y);
      break;
    default:
      return GST_PAD_PROBE_OK;
  }
  GstCaps *caps = gst_pad_get_current_caps(pad);
  gint width = 0;
  if (self.dragging_ && caps &&
      gst_structure_get_int(gst_caps_get_structure(caps, 0), "width", &width))
    self.set_divider(x / width);
  if (caps) gst_caps_unref(caps);
  return GST_PAD_PROBE_OK;
}

void Player::take_report(const GstStructure &report) {
  Measured m;
  m.angles = numbers(report, "angles");
  m.spectrum = numbers(report, "spectrum");
  m.thresholds =
      numbers(report, gst_structure_has_field(&report, "thresholds") ? "thresholds" : "threshold");
  const int levels = format_.find("16") != std::string::npos || format_.find("P0") == 0 ? 256 : 1;
  for (double &t : m.thresholds) t /= levels;
  gst_structure_get_double(&report, "dominant-angle", &m.dominant_angle);
  gst_structure_get_double(&report, "confidence", &m.confidence);
  gboolean blank = TRUE;
  gst_structure_get_boolean(&report, "blank", &blank);
  m.blank = blank;
  for (const char *field : {"black-ratio", "threshold", "separability", "mean", "minimum",
                            "maximum", "dominant-angle", "confidence", "iterations"}) {
    const GValue *value = gst_structure_get_value(&report, field);
    if (!value || GST_VALUE_HOLDS_ARRAY(value)) continue;
    g_autofree gchar *text = G_VALUE_HOLDS_DOUBLE(value)
                                 ? g_strdup_printf("%.3g", g_value_get_double(value))
                                 : gst_value_serialize(value);
    m.words += (m.words.empty() ? "" : "   ") + std::string(field) + " " + text;
  }
  measured_ = std::move(m);
}

void Player::handle_error(GstMessage *message) {
  g_autoptr(GError) error = nullptr;
  gst_message_parse_error(message, &error, nullptr);
  const bool of_element = GST_MESSAGE_SRC(message) == GST_OBJECT(element_);
  std::string trouble = error->message;
  if (of_element && !changed_.empty()) {
    if (!trouble.ends_with(".")) trouble += ".";
    trouble += " " + changed_ + " was reset to " + (before_.empty() ? "empty" : before_) + ".";
    Settings &settings = settings_[name_];
    std::erase_if(settings, [&](const auto &setting) { return setting.first == changed_; });
    settings.emplace_back(changed_, before_);
    changed_.clear();
    restart();
    settings_[name_] = settings_of(element_);
    if (on_settings) on_settings();
  } else if (source_.is_live && frames() > 0) {
    wait_for_camera(trouble);
    return;
  } else {
    stop();
    build();  // so that there is an element to set properties on
    failed_ = true;
  }
  if (on_trouble) on_trouble(trouble);
}

void Player::wait_for_camera(const std::string &trouble) {
  stop();
  build();
  retry_at_ = g_get_monotonic_time() + kRetryEvery;
  if (!waiting_ && on_trouble)
    on_trouble(trouble + (trouble.ends_with(".") ? "" : ".") + " Trying again every second.");
  waiting_ = true;
}

void Player::watch_camera() {
  const guint64 frames = wipe_->times().out;
  const gint64 now = g_get_monotonic_time();
  if (frames != last_frames_ || last_frame_at_ == 0) {
    last_frames_ = frames;
    last_frame_at_ = now;
    if (waiting_ && frames > 0) {
      waiting_ = false;
      if (on_trouble) on_trouble("");
    }
  } else if (retry_at_ == 0 && this->frames() > 0 && now - last_frame_at_ > kPatience) {
    last_frame_at_ = 0;
    wait_for_camera("The camera gives no frames.");
  }
}

bool Player::start_again() {
  const guint64 frames = wipe_->times().out;
  const bool gave_frames = frames > frames_at_end_;
  const bool never = this->frames() == 0;
  // A second end without a frame in between: the source cannot seek, but it may be opened again.
  if (never || (!gave_frames && ended_)) {
    failed_ = true;
    if (on_trouble)
      on_trouble(never ? "The source contains no picture."
                       : "The source has ended and cannot be restarted.");
    return false;
  }
  frames_at_end_ = frames;
  if (gave_frames && gst_element_seek_simple(pipeline_, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, 0)) {
    ended_ = false;
    return false;
  }
  // A new pipeline, because the links of decoders in the old one cannot be changed.
  restart();
  ended_ = !gave_frames;
  return true;
}

void Player::poll() {
  if (!pipeline_) return;
  if (background_.busy()) {  // looking for a camera, which may lock its element
    last_frame_at_ = 0;
    return;
  }
  if (retry_at_ > 0 && g_get_monotonic_time() >= retry_at_) {
    retry_at_ = 0;
    play();
  }
  GstBus *bus = gst_element_get_bus(pipeline_);
  constexpr auto kTypes =
      static_cast<GstMessageType>(GST_MESSAGE_ERROR | GST_MESSAGE_EOS | GST_MESSAGE_ELEMENT);
  while (GstMessage *message = gst_bus_pop_filtered(bus, kTypes)) {
    bool restarted = false;
    switch (GST_MESSAGE_TYPE(message)) {
      case GST_MESSAGE_ERROR:
        handle_error(message);
        restarted = true;
        break;
      case GST_MESSAGE_EOS:
        restarted = start_again();
        break;
      default:
        if (GST_MESSAGE_SRC(message) == GST_OBJECT(element_) && gst_message_get_structure(message))
          take_report(*gst_message_get_structure(message));
    }
    gst_message_unref(message);
    if (restarted) break;
  }
  gst_object_unref(bus);
  if (source_.is_live && !failed_) watch_camera();
}

guint64 Player::frames() const {
  return had_frames_ + wipe_->times().out;
}

FrameTimes Player::times() const {
  FrameTimes times = wipe_->times();
  times.latency_ms = delay_->ms();
  times.reported_ms = delay_->reported_ms();
  return times;
}

double Player::rate() const {
  GstPad *pad = gst_element_get_static_pad(element_, "sink");
  GstCaps *caps = gst_pad_get_current_caps(pad);
  gst_object_unref(pad);
  gint n = 0, d = 1;
  if (caps) {
    gst_structure_get_fraction(gst_caps_get_structure(caps, 0), "framerate", &n, &d);
    gst_caps_unref(caps);
  }
  return d > 0 ? double(n) / d : 0;
}

std::string Player::launch_line() const {
  std::string line = "gst-launch-1.0 " + source_.line() +
                     " ! videoconvert ! video/x-raw,format=" + format_ + " ! " + name_;
  for (const auto &[name, text] : settings_of(element_)) line += " " + quoted(name + "=" + text);
  return line + " ! videoconvert ! autovideosink";
}

}  // namespace cudascan::view
