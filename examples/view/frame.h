// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// A frame before and after the elements.
#pragma once
#include <gst/video/video.h>

namespace cudascan::view {

class Frame {
 public:
  /// Holds references to both buffers, which have the same format and size.
  /// @param stream_time  where the frame is in the source, for seeking; may be unknown
  Frame(GstBuffer *before, GstBuffer *after, const GstVideoInfo &info, GstClockTime stream_time)
      : before_(gst_buffer_ref(before)),
        after_(gst_buffer_ref(after)),
        info_(info),
        stream_time_(stream_time) {}
  ~Frame() {
    gst_buffer_unref(before_);
    gst_buffer_unref(after_);
  }
  Frame(const Frame &) = delete;
  Frame &operator=(const Frame &) = delete;

  GstBuffer *before() const { return before_; }
  GstBuffer *after() const { return after_; }
  const GstVideoInfo &info() const { return info_; }
  int width() const { return GST_VIDEO_INFO_WIDTH(&info_); }
  int height() const { return GST_VIDEO_INFO_HEIGHT(&info_); }
  /// Width of a pixel, in heights of a pixel.
  double pixel_aspect() const {
    return info_.par_n > 0 && info_.par_d > 0 ? double(info_.par_n) / info_.par_d : 1;
  }
  GstClockTime stream_time() const { return stream_time_; }

 private:
  GstBuffer *const before_, *const after_;
  const GstVideoInfo info_;
  const GstClockTime stream_time_;
};

}  // namespace cudascan::view
