// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/mapped_frame.h"

#include <sstream>
#include <string>

namespace cudascan::gst {
namespace {

template <typename... Parts>
[[noreturn]] void refuse_frame(const Parts &...parts) {
  std::ostringstream message;
  (message << ... << parts);
  throw BadFrame(message.str());
}

std::string describe(GstVideoFormat format, guint width, guint height) {
  return std::to_string(width) + "x" + std::to_string(height) + " in " +
         gst_video_format_to_string(format);
}

void check_meta(const GstVideoInfo &info, const GstVideoMeta &meta) {
  const auto width = static_cast<guint>(GST_VIDEO_INFO_WIDTH(&info));
  const auto height = static_cast<guint>(GST_VIDEO_INFO_FIELD_HEIGHT(&info));
  const GstVideoFormat format = GST_VIDEO_INFO_FORMAT(&info);
  if (meta.format != format || meta.width < width || meta.height < height ||
      meta.n_planes != GST_VIDEO_INFO_N_PLANES(&info))
    refuse_frame("a frame's GstVideoMeta says ", describe(meta.format, meta.width, meta.height),
                 " with ", meta.n_planes, " planes, but its caps say ",
                 describe(format, width, height));
}

[[noreturn]] void refuse_map(GstMapFlags flags) {
  throw Error(flags & GST_MAP_WRITE ? "a frame could not be mapped for writing"
                                    : "a frame could not be mapped for reading");
}

constexpr int kPitchAlignment = 256;

}  // namespace

MappedFrame::MappedFrame(const GstVideoInfo &info, GstBuffer *buffer, guint flags)
    : buffer_(buffer), meta_(gst_buffer_get_video_meta(buffer)), picture_{&info} {
  const auto map_flags = static_cast<GstMapFlags>(flags);
  if (meta_) check_meta(info, *meta_);
  try {
    if (meta_)
      map_planes(map_flags);
    else
      map_whole(map_flags);
  } catch (const Error &) {
    unmap();
    throw;
  }
}

void MappedFrame::map_planes(GstMapFlags flags) {
  bool complete = true;
  for (int i = 0; i < picture_.n_planes(); ++i, ++n_maps_) {
    const gsize offset = meta_->offset[i], size = gst_buffer_get_size(buffer_);
    if (offset >= size)
      refuse_frame("a frame has ", size, " bytes, but its GstVideoMeta says that plane ", i,
                   " begins after ", offset);
    gpointer data = nullptr;
    if (!gst_video_meta_map(meta_, i, &maps_[i], &data, &picture_.stride[i], flags))
      refuse_map(flags);
    picture_.data[i] = static_cast<guint8 *>(data);
    // A GstVideoMeta with its own map function need not have memory.
    complete = complete && (!maps_[i].memory || holds(i, maps_[i]));
  }
  if (complete) return;
  // A plane may begin in one memory of the buffer and continue in the next.
  unmap();
  map_whole(flags);
}

void MappedFrame::map_whole(GstMapFlags flags) {
  if (!gst_buffer_map(buffer_, &maps_[0], flags)) refuse_map(flags);
  n_maps_ = 1;
  whole_ = true;
  for (int i = 0; i < picture_.n_planes(); ++i) {
    const gsize offset = meta_ ? meta_->offset[i] : GST_VIDEO_INFO_PLANE_OFFSET(picture_.info, i);
    picture_.stride[i] = meta_ ? meta_->stride[i] : GST_VIDEO_INFO_PLANE_STRIDE(picture_.info, i);
    picture_.data[i] = maps_[0].data + offset;
    if (offset <= maps_[0].size && holds(i, maps_[0])) continue;
    const PlaneShape shape = plane_shape(*picture_.info, i);
    refuse_frame("a frame has ", maps_[0].size, " bytes, too few for plane ", i, ": ", shape.height,
                 " rows of ", shape.row_bytes(), " bytes that begin at ", offset, " and are ",
                 picture_.stride[i], " apart");
  }
}

/// Whether a plane is inside the memory; false if its rows overlap.
bool MappedFrame::holds(int plane, const GstMapInfo &map) const {
  const PlaneShape shape = plane_shape(*picture_.info, plane);
  const gint64 stride = picture_.stride[plane], last = stride * (shape.height - 1);
  if (shape.height > 1 && ABS(stride) < shape.row_bytes()) return false;
  const gint64 begin = picture_.data[plane] - map.data;
  return begin + MIN(last, 0) >= 0 &&
         begin + MAX(last, 0) + shape.row_bytes() <= static_cast<gint64>(map.size);
}

void MappedFrame::unmap() {
  for (int i = 0; i < n_maps_; ++i)
    if (whole_)
      gst_buffer_unmap(buffer_, &maps_[i]);
    else
      gst_video_meta_unmap(meta_, i, &maps_[i]);
  n_maps_ = 0;
}

bool is_aligned(const Picture &picture, int n_planes) {
  const GstVideoFormatInfo *format = picture.info->finfo;
  const auto unit = static_cast<guintptr>(tens_of(format) ? sizeof(guint32) : sample_size(format));
  for (int i = 0; i < n_planes; ++i)
    if (picture.stride[i] < plane_shape(*picture.info, i).row_bytes() ||
        picture.stride[i] % unit != 0 || reinterpret_cast<guintptr>(picture.data[i]) % unit != 0)
      return false;
  return true;
}

Picture lay_out(const GstVideoInfo &info, int n_planes,
                const std::function<void *(std::size_t)> &reserve) {
  Picture picture{&info};
  std::size_t offsets[GST_VIDEO_MAX_PLANES], bytes = 0;
  for (int i = 0; i < n_planes; ++i) {
    const PlaneShape shape = plane_shape(info, i);
    picture.stride[i] =
        (shape.row_bytes() + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
    offsets[i] = bytes;
    bytes += static_cast<std::size_t>(picture.stride[i]) * shape.height;
  }
  const auto block = static_cast<guint8 *>(reserve(bytes));
  for (int i = 0; i < n_planes; ++i) picture.data[i] = block + offsets[i];
  return picture;
}

AlignedPicture::AlignedPicture(const Picture &frame) : frame_(frame), picture_(frame) {
  if (is_aligned(frame, frame.n_planes())) return;
  picture_ = lay_out(*frame.info, frame.n_planes(), [this](std::size_t bytes) {
    block_.resize(bytes / sizeof(std::max_align_t));
    return block_.data();
  });
}

void AlignedPicture::fetch(Cpu &cpu) {
  for (int i = 0; !block_.empty() && i < frame_.n_planes(); ++i)
    copy_plane(cpu, frame_, picture_, i);
}

void AlignedPicture::store(Cpu &cpu) const {
  for (int i = 0; !block_.empty() && i < frame_.n_planes(); ++i)
    copy_plane(cpu, picture_, frame_, i);
}

}  // namespace cudascan::gst
