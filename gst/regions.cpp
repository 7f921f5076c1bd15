// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/regions.h"

#include <algorithm>
#include <optional>

namespace cudascan::gst {
namespace {

/// What encloses parts of a frame.
class Enclosing {
 public:
  explicit Enclosing(const GstVideoInfo &info)
      : width_(GST_VIDEO_INFO_WIDTH(&info)), height_(GST_VIDEO_INFO_HEIGHT(&info)) {}

  /// Adds what is inside the frame; numbers of metas can be any.
  void add(guint x, guint y, guint width, guint height) {
    const auto right = std::min<guint64>(guint64{x} + width, width_),
               bottom = std::min<guint64>(guint64{y} + height, height_);
    if (x >= right || y >= bottom) return;
    left_ = std::min<guint64>(left_, x), top_ = std::min<guint64>(top_, y);
    right_ = std::max(right_, right), bottom_ = std::max(bottom_, bottom);
  }
  std::optional<Rectangle> get() const {
    if (right_ == 0) return {};
    return Rectangle{static_cast<int>(left_), static_cast<int>(top_),
                     static_cast<int>(right_ - left_), static_cast<int>(bottom_ - top_)};
  }

 private:
  const guint64 width_, height_;
  guint64 left_ = G_MAXUINT64, top_ = G_MAXUINT64, right_ = 0, bottom_ = 0;
};

}  // namespace

Rectangle region_of(GstBuffer *frame, const GstVideoInfo &info, RoiFrom from,
                    const Rectangle &roi) {
  Enclosing regions(info);
  if (from == RoiFrom::crop) {
    if (const GstVideoCropMeta *crop = gst_buffer_get_video_crop_meta(frame))
      regions.add(crop->x, crop->y, crop->width, crop->height);
  } else if (from == RoiFrom::meta) {
    gpointer state = nullptr;
    while (const GstMeta *meta = gst_buffer_iterate_meta_filtered(
               frame, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
      const auto *one = reinterpret_cast<const GstVideoRegionOfInterestMeta *>(meta);
      regions.add(one->x, one->y, one->w, one->h);
    }
  }
  return regions.get().value_or(roi);
}

}  // namespace cudascan::gst
