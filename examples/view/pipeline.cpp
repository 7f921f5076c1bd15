// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pipeline.h"

#include <stdexcept>

namespace cudascan::view {
namespace {

constexpr auto kSeek = static_cast<GstSeekFlags>(GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE);

std::string name_of(std::size_t i) {
  return "viewed" + std::to_string(i);
}

std::string launch_line(const Source &source, const std::string &format, const Chain &chain) {
  const std::string caps = "video/x-raw,format=" + format;
  const std::string queue = " max-size-buffers=3 max-size-bytes=0 max-size-time=0";
  // Old frames of a camera are dropped for newer ones.
  std::string line = source.launch + (source.device.empty() ? "" : " name=camera") + " ! queue" +
                     queue + (source.is_live ? " leaky=downstream" : "") +
                     " ! videoconvert ! capsfilter name=before caps=" + caps;
  for (std::size_t i = 0; i < chain.size(); ++i)
    line += " ! " + chain[i].element + " name=" + name_of(i) + " report=message";
  return line + " ! " + caps + " ! queue name=ready" + queue +
         " ! fakesink name=shown sync=true signal-handoffs=true silent=true";
}

}  // namespace

Pipeline::Pipeline(const Source &source, const std::string &format, const Chain &chain)
    : source_(source) {
  g_autoptr(GError) error = nullptr;
  GstElement *bin = gst_parse_launch_full(launch_line(source, format, chain).c_str(), nullptr,
                                          GST_PARSE_FLAG_FATAL_ERRORS, &error);
  if (!bin) throw std::runtime_error(error ? error->message : "the source cannot be parsed");
  // From here on owned, so that a setting may be refused.
  const auto release = [](GstElement *e) { gst_object_unref(e); };
  std::unique_ptr<GstElement, decltype(release)> owner(GST_ELEMENT(gst_object_ref_sink(bin)),
                                                       release);
  for (std::size_t i = 0; i < chain.size(); ++i) {
    elements_.push_back(gst_bin_get_by_name(GST_BIN(bin), name_of(i).c_str()));
    gst_object_unref(elements_.back());  // the pipeline owns it
    for (const auto &[name, text] : chain[i].settings) set_property(elements_[i], name, text);
  }
  pipeline_ = owner.release();
  sink_ = gst_bin_get_by_name(GST_BIN(pipeline_), "shown");
  g_signal_connect(sink_, "handoff", G_CALLBACK(on_frame), this);
  g_signal_connect(sink_, "preroll-handoff", G_CALLBACK(on_frame), this);
  pairs_ = std::make_unique<Pairs>(elements_.front(), elements_.back(), elements_.size());
  GstElement *ready = gst_bin_get_by_name(GST_BIN(pipeline_), "ready");
  delay_ = std::make_unique<Delay>(pipeline_, ready, sink_);
  gst_object_unref(ready);
  GstElement *before = gst_bin_get_by_name(GST_BIN(pipeline_), "before");
  GstPad *pad = gst_element_get_static_pad(before, "src");
  gate_ = std::make_unique<Gate>(pad);
  gst_object_unref(pad);
  gst_object_unref(before);
}

Pipeline::~Pipeline() {
  gst_element_set_state(pipeline_, GST_STATE_NULL);
  gate_.reset();
  delay_.reset();
  pairs_.reset();
  gst_object_unref(sink_);
  gst_object_unref(pipeline_);
}

void Pipeline::start(bool paused, bool live) {
  // Not before: an element may look for the device as soon as it has the name.
  if (!source_.device.empty()) {
    GstElement *camera = gst_bin_get_by_name(GST_BIN(pipeline_), "camera");
    g_object_set(camera, source_.property.c_str(), source_.device.c_str(), nullptr);
    gst_object_unref(camera);
  }
  if (paused && live) gate_->close();
  gst_element_set_state(pipeline_, paused && !live ? GST_STATE_PAUSED : GST_STATE_PLAYING);
}

bool Pipeline::is_live() const {
  return source_.is_live || delay_->reported_ms() >= 0;
}

void Pipeline::pause(bool paused) {
  if (!paused) gate_->open();
  if (!is_live())
    gst_element_set_state(pipeline_, paused ? GST_STATE_PAUSED : GST_STATE_PLAYING);
  else if (paused)
    gate_->close();
}

void Pipeline::step() {
  if (is_live())
    gate_->step();
  else
    gst_element_send_event(sink_, gst_event_new_step(GST_FORMAT_BUFFERS, 1, 1, TRUE, FALSE));
}

void Pipeline::refresh() {
  const std::shared_ptr<const Frame> frame = this->frame();
  if (!is_live() && frame && GST_CLOCK_TIME_IS_VALID(frame->stream_time()))
    seek(frame->stream_time());
}

bool Pipeline::seek(GstClockTime stream_time) {
  return gst_element_seek_simple(pipeline_, GST_FORMAT_TIME, kSeek,
                                 static_cast<gint64>(stream_time));
}

std::optional<std::size_t> Pipeline::sender(const GstMessage *message) const {
  for (std::size_t i = 0; i < elements_.size(); ++i)
    if (GST_MESSAGE_SRC(message) == GST_OBJECT(elements_[i])) return i;
  return std::nullopt;
}

std::shared_ptr<const Frame> Pipeline::frame() const {
  const std::lock_guard lock(mutex_);
  return frame_;
}

double Pipeline::rate() const {
  const std::shared_ptr<const Frame> frame = this->frame();
  if (!frame || GST_VIDEO_INFO_FPS_D(&frame->info()) <= 0) return 0;
  return double(GST_VIDEO_INFO_FPS_N(&frame->info())) / GST_VIDEO_INFO_FPS_D(&frame->info());
}

void Pipeline::on_frame(GstElement *, GstBuffer *buffer, GstPad *pad, gpointer user) {
  auto &self = *static_cast<Pipeline *>(user);
  GstCaps *caps = gst_pad_get_current_caps(pad);
  GstEvent *event = gst_pad_get_sticky_event(pad, GST_EVENT_SEGMENT, 0);
  GstVideoInfo info;
  if (caps && gst_video_info_from_caps(&info, caps)) {
    GstClockTime time = GST_CLOCK_TIME_NONE;
    if (event) {
      const GstSegment *segment = nullptr;
      gst_event_parse_segment(event, &segment);
      time = gst_segment_to_stream_time(segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer));
    }
    auto frame = std::make_shared<const Frame>(Pairs::before(buffer), buffer, info, time);
    const std::lock_guard lock(self.mutex_);
    self.frame_.swap(frame);
  }
  gst_clear_event(&event);
  gst_clear_caps(&caps);
}

}  // namespace cudascan::view
