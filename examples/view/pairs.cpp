// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pairs.h"

#include <algorithm>

namespace cudascan::view {
namespace {

constexpr std::size_t kFrames = 240;  // number of frames whose times are kept
constexpr std::size_t kWaiting = 4;   // more than an element that works ahead has in flight
constexpr std::int64_t kCountEvery = 150'000;  // us

void keep(std::deque<double> &times, double ms) {
  times.push_back(ms);
  if (times.size() > kFrames) times.pop_front();
}

bool video_of(GstPad *pad, GstVideoInfo &info) {
  GstCaps *caps = gst_pad_get_current_caps(pad);
  const bool ok = caps && gst_video_info_from_caps(&info, caps);
  if (caps) gst_caps_unref(caps);
  return ok;
}

}  // namespace

Pairs::Pairs(GstElement *first, GstElement *last, std::size_t n_elements)
    : most_waiting_(kWaiting * n_elements),
      sink_(gst_element_get_static_pad(first, "sink")),
      src_(gst_element_get_static_pad(last, "src")),
      input_probe_(gst_pad_add_probe(sink_, GST_PAD_PROBE_TYPE_BUFFER, on_input, this, nullptr)),
      output_probe_(gst_pad_add_probe(src_, GST_PAD_PROBE_TYPE_BUFFER, on_output, this, nullptr)) {}

Pairs::~Pairs() {
  gst_pad_remove_probe(sink_, input_probe_);
  gst_pad_remove_probe(src_, output_probe_);
  gst_object_unref(sink_);
  gst_object_unref(src_);
  for (const Waiting &w : waiting_) gst_buffer_unref(w.buffer);
}

GstPadProbeReturn Pairs::on_input(GstPad *pad, GstPadProbeInfo *info, gpointer user) {
  auto &self = *static_cast<Pairs *>(user);
  GstBuffer *const buffer = GST_PAD_PROBE_INFO_BUFFER(info);
  const std::int64_t now = g_get_monotonic_time();
  {
    const std::lock_guard lock(self.mutex_);
    ++self.in_;
    self.waiting_.push_back({gst_buffer_ref(buffer), now});
    if (self.waiting_.size() > self.most_waiting_) {
      gst_buffer_unref(self.waiting_.front().buffer);
      self.waiting_.pop_front();
    }
    if (now - self.last_count_ < kCountEvery) return GST_PAD_PROBE_OK;
    self.last_count_ = now;
  }
  GstVideoInfo video;
  if (video_of(pad, video)) self.count_levels(buffer, video);
  return GST_PAD_PROBE_OK;
}

GstPadProbeReturn Pairs::on_output(GstPad *, GstPadProbeInfo *info, gpointer user) {
  auto &self = *static_cast<Pairs *>(user);
  GstBuffer *after = GST_PAD_PROBE_INFO_BUFFER(info);
  GstBuffer *before = nullptr;
  {
    const std::lock_guard lock(self.mutex_);
    const std::int64_t now = g_get_monotonic_time();
    ++self.out_;
    if (self.last_output_ > 0) keep(self.interval_ms_, (now - self.last_output_) / 1e3);
    self.last_output_ = now;
    // Frames older than the one that came out were dropped.
    while (!self.waiting_.empty() && !before) {
      const Waiting w = self.waiting_.front();
      self.waiting_.pop_front();
      const bool same = GST_BUFFER_PTS(w.buffer) == GST_BUFFER_PTS(after);
      if (same || self.waiting_.empty()) {
        before = w.buffer;
        if (same) keep(self.element_ms_, (now - w.since) / 1e3);
      } else {
        gst_buffer_unref(w.buffer);
      }
    }
  }
  if (before && before != after) {
    after = gst_buffer_make_writable(after);
    GST_PAD_PROBE_INFO_DATA(info) = after;
    gst_buffer_add_parent_buffer_meta(after, before);
  }
  if (before) gst_buffer_unref(before);
  return GST_PAD_PROBE_OK;
}

GstBuffer *Pairs::before(GstBuffer *after) {
  GstBuffer *before = after;
  gpointer state = nullptr;
  // The last one is ours; others may have come along from the input.
  while (GstMeta *meta =
             gst_buffer_iterate_meta_filtered(after, &state, GST_PARENT_BUFFER_META_API_TYPE))
    before = reinterpret_cast<GstParentBufferMeta *>(meta)->buffer;
  return before;
}

void Pairs::count_levels(GstBuffer *buffer, const GstVideoInfo &video) {
  GstVideoFrame frame;
  if (!gst_video_frame_map(&frame, &video, buffer, GST_MAP_READ)) return;
  const int step = GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, 0);
  const int shift = std::max(static_cast<int>(GST_VIDEO_FRAME_COMP_DEPTH(&frame, 0)) - 8, 0) +
                    video.finfo->shift[0];
  std::array<std::uint32_t, 256> levels{};
  for (int y = 0; y < GST_VIDEO_FRAME_HEIGHT(&frame); y += 4) {
    const auto *row = static_cast<const guint8 *>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0)) +
                      static_cast<std::ptrdiff_t>(y) * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0);
    for (int x = 0; x < GST_VIDEO_FRAME_WIDTH(&frame); x += 4)
      ++levels[(step == 1 ? row[x] : GST_READ_UINT16_LE(row + x * step) >> shift) & 0xff];
  }
  gst_video_frame_unmap(&frame);
  const std::lock_guard lock(mutex_);
  levels_ = levels;
}

FrameTimes Pairs::times() const {
  const std::lock_guard lock(mutex_);
  return {{element_ms_.begin(), element_ms_.end()},
          {interval_ms_.begin(), interval_ms_.end()},
          in_,
          out_};
}

std::array<std::uint32_t, 256> Pairs::histogram() const {
  const std::lock_guard lock(mutex_);
  return levels_;
}

}  // namespace cudascan::view
