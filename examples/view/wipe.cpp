// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wipe.h"

#include <algorithm>
#include <cstring>

namespace cudascan::view {
namespace {

constexpr std::size_t kFrames = 240;  // number of frames whose times are kept
constexpr std::size_t kWaiting = 4;   // more than an element that works ahead has in flight
constexpr std::int64_t kCountEvery = 150'000;  // us

void keep(std::deque<double> &times, double ms) {
  times.push_back(ms);
  if (times.size() > kFrames) times.pop_front();
}

/// Maps a frame for the duration of a block.
class Mapped {
 public:
  Mapped(const GstVideoInfo &info, GstBuffer *buffer, GstMapFlags flags)
      : ok_(gst_video_frame_map(&frame_, &info, buffer, flags)) {}
  ~Mapped() {
    if (ok_) gst_video_frame_unmap(&frame_);
  }
  explicit operator bool() const { return ok_; }
  GstVideoFrame *operator->() { return &frame_; }
  GstVideoFrame *get() { return &frame_; }

 private:
  GstVideoFrame frame_{};
  bool ok_;
};

bool video_of(GstPad *pad, GstVideoInfo &info) {
  GstCaps *caps = gst_pad_get_current_caps(pad);
  const bool ok = caps && gst_video_info_from_caps(&info, caps);
  if (caps) gst_caps_unref(caps);
  return ok;
}

}  // namespace

Wipe::Wipe(GstElement *element)
    : sink_(gst_element_get_static_pad(element, "sink")),
      src_(gst_element_get_static_pad(element, "src")),
      input_probe_(gst_pad_add_probe(sink_, GST_PAD_PROBE_TYPE_BUFFER, on_input, this, nullptr)),
      output_probe_(gst_pad_add_probe(src_, GST_PAD_PROBE_TYPE_BUFFER, on_output, this, nullptr)) {}

Wipe::~Wipe() {
  gst_pad_remove_probe(sink_, input_probe_);
  gst_pad_remove_probe(src_, output_probe_);
  gst_object_unref(sink_);
  gst_object_unref(src_);
  for (const Waiting &w : waiting_) gst_buffer_unref(w.buffer);
}

GstPadProbeReturn Wipe::on_input(GstPad *pad, GstPadProbeInfo *info, gpointer user) {
  auto &self = *static_cast<Wipe *>(user);
  GstBuffer *const buffer = GST_PAD_PROBE_INFO_BUFFER(info);
  const std::int64_t now = g_get_monotonic_time();
  {
    const std::lock_guard lock(self.mutex_);
    ++self.in_;
    self.waiting_.push_back({gst_buffer_ref(buffer), now});
    if (self.waiting_.size() > kWaiting) {
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

GstPadProbeReturn Wipe::on_output(GstPad *pad, GstPadProbeInfo *info, gpointer user) {
  auto &self = *static_cast<Wipe *>(user);
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
  GstVideoInfo video;
  if (before && self.divider_ > 0 && before != after && video_of(pad, video)) {
    after = gst_buffer_make_writable(after);
    GST_PAD_PROBE_INFO_DATA(info) = after;
    self.copy_before(before, after, video);
  }
  if (before) gst_buffer_unref(before);
  return GST_PAD_PROBE_OK;
}

void Wipe::copy_before(GstBuffer *before, GstBuffer *after, const GstVideoInfo &video) const {
  Mapped from(video, before, GST_MAP_READ), to(video, after, GST_MAP_WRITE);
  if (!from || !to) return;
  const int column = static_cast<int>(divider_ * GST_VIDEO_INFO_WIDTH(&video));
  for (guint plane = 0; plane < GST_VIDEO_FRAME_N_PLANES(to.get()); ++plane) {
    gint components[GST_VIDEO_MAX_COMPONENTS];
    gst_video_format_info_component(video.finfo, plane, components);
    const int component = components[0];
    const int columns = GST_VIDEO_FORMAT_INFO_SCALE_WIDTH(video.finfo, component, column);
    const std::size_t bytes =
        static_cast<std::size_t>(columns) * GST_VIDEO_FRAME_COMP_PSTRIDE(to.get(), component);
    const auto *source = static_cast<const guint8 *>(GST_VIDEO_FRAME_PLANE_DATA(from.get(), plane));
    auto *target = static_cast<guint8 *>(GST_VIDEO_FRAME_PLANE_DATA(to.get(), plane));
    for (int y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(to.get(), component); ++y) {
      std::memcpy(target, source, bytes);
      if (plane == 0 && column > 1 && column < GST_VIDEO_INFO_WIDTH(&video)) {
        // The divider: a column of black and one of white, visible on any picture.
        const int step = GST_VIDEO_FRAME_COMP_PSTRIDE(to.get(), component);
        std::memset(target + (column - 2) * step, 0, step);
        std::memset(target + (column - 1) * step, 0xff, step);
      }
      source += GST_VIDEO_FRAME_PLANE_STRIDE(from.get(), plane);
      target += GST_VIDEO_FRAME_PLANE_STRIDE(to.get(), plane);
    }
  }
}

void Wipe::count_levels(GstBuffer *buffer, const GstVideoInfo &video) {
  Mapped frame(video, buffer, GST_MAP_READ);
  if (!frame) return;
  const int step = GST_VIDEO_FRAME_COMP_PSTRIDE(frame.get(), 0);
  const int shift = std::max(static_cast<int>(GST_VIDEO_FRAME_COMP_DEPTH(frame.get(), 0)) - 8, 0) +
                    video.finfo->shift[0];
  std::array<std::uint32_t, 256> levels{};
  for (int y = 0; y < GST_VIDEO_FRAME_HEIGHT(frame.get()); y += 4) {
    const auto *row = static_cast<const guint8 *>(GST_VIDEO_FRAME_PLANE_DATA(frame.get(), 0)) +
                      static_cast<std::ptrdiff_t>(y) * GST_VIDEO_FRAME_PLANE_STRIDE(frame.get(), 0);
    for (int x = 0; x < GST_VIDEO_FRAME_WIDTH(frame.get()); x += 4)
      ++levels[(step == 1 ? row[x] : GST_READ_UINT16_LE(row + x * step) >> shift) & 0xff];
  }
  const std::lock_guard lock(mutex_);
  levels_ = levels;
}

FrameTimes Wipe::times() const {
  const std::lock_guard lock(mutex_);
  return {{element_ms_.begin(), element_ms_.end()},
          {interval_ms_.begin(), interval_ms_.end()},
          in_,
          out_};
}

std::array<std::uint32_t, 256> Wipe::histogram() const {
  const std::lock_guard lock(mutex_);
  return levels_;
}

}  // namespace cudascan::view
