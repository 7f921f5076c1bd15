// SPDX-License-Identifier: LGPL-2.1-or-later
#include "delay.h"

namespace cudascan::view {
namespace {

constexpr std::size_t kFrames = 240;   // number of frames whose times are kept
constexpr unsigned kAskEvery = 32;     // frames; the latency hardly ever changes
constexpr double kNanoseconds = 1e-6;  // in milliseconds

/// Waits until the CPU can read the frame.
void finish(GstBuffer *frame) {
  GstMapInfo map;
  if (gst_buffer_map(frame, &map, GST_MAP_READ)) gst_buffer_unmap(frame, &map);
}

}  // namespace

Delay::Delay(GstElement *pipeline, GstElement *queue, GstElement *sink)
    : pipeline_(pipeline),
      sink_(GST_ELEMENT(gst_object_ref(sink))),
      queue_pad_(gst_element_get_static_pad(queue, "sink")),
      sink_pad_(gst_element_get_static_pad(sink, "sink")),
      probe_(gst_pad_add_probe(queue_pad_, GST_PAD_PROBE_TYPE_BUFFER, on_frame, this, nullptr)) {}

Delay::~Delay() {
  gst_pad_remove_probe(queue_pad_, probe_);
  gst_object_unref(queue_pad_);
  gst_object_unref(sink_pad_);
  gst_object_unref(sink_);
}

/// Not by the thread of the window: elements of a camera that is gone may not answer.
void Delay::ask() {
  gboolean live = FALSE;
  GstClockTime min = GST_CLOCK_TIME_NONE;
  GstQuery *query = gst_query_new_latency();
  // A sink says that it is live itself, so its source is asked.
  if (gst_pad_peer_query(sink_pad_, query)) gst_query_parse_latency(query, &live, nullptr, nullptr);
  if (live && gst_element_query(sink_, query))
    gst_query_parse_latency(query, nullptr, &min, nullptr);
  else
    live = FALSE;
  gst_query_unref(query);
  const std::lock_guard lock(mutex_);
  reported_ms_ = live ? static_cast<double>(min) * kNanoseconds : -1;
}

GstPadProbeReturn Delay::on_frame(GstPad *pad, GstPadProbeInfo *info, gpointer user) {
  auto &self = *static_cast<Delay *>(user);
  GstBuffer *frame = GST_PAD_PROBE_INFO_BUFFER(info);
  finish(frame);
  const GstClockTime now = gst_element_get_current_running_time(self.pipeline_);
  // The sink answers after its first frame.
  if (self.frames_++ % kAskEvery == 0 || self.reported_ms() < 0) self.ask();
  GstEvent *event = gst_pad_get_sticky_event(pad, GST_EVENT_SEGMENT, 0);
  if (!event) return GST_PAD_PROBE_OK;
  const GstSegment *segment = nullptr;
  gst_event_parse_segment(event, &segment);
  const GstClockTime taken =
      gst_segment_to_running_time(segment, GST_FORMAT_TIME, GST_BUFFER_PTS(frame));
  gst_event_unref(event);
  if (!GST_CLOCK_TIME_IS_VALID(now) || !GST_CLOCK_TIME_IS_VALID(taken)) return GST_PAD_PROBE_OK;
  const std::lock_guard lock(self.mutex_);
  if (self.reported_ms_ < 0) return GST_PAD_PROBE_OK;
  self.ms_.push_back(static_cast<double>(GST_CLOCK_DIFF(taken, now)) * kNanoseconds);
  if (self.ms_.size() > kFrames) self.ms_.pop_front();
  return GST_PAD_PROBE_OK;
}

std::vector<double> Delay::ms() const {
  const std::lock_guard lock(mutex_);
  return {ms_.begin(), ms_.end()};
}

double Delay::reported_ms() const {
  const std::lock_guard lock(mutex_);
  return reported_ms_;
}

}  // namespace cudascan::view
