// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The planes of a video frame as operators see them, wherever they lie.
#pragma once
#include <gst/video/video.h>

#include <array>
#include <variant>

#include "common/error.h"
#include "common/plane.h"
#include "gst/formats.h"
#include "kernels/planes.h"

namespace cudascan::gst {

using InPlane = std::variant<Plane<const std::uint8_t>, Plane<const std::uint16_t>>;
using OutPlane = std::variant<Plane<std::uint8_t>, Plane<std::uint16_t>>;

/// What an operator works on: the luma plane of both sides, 8 or 16 bit each.
struct Luma {
  InPlane in;
  OutPlane out;
};

/// Size of one plane in samples of its format; in semi-planar formats U and V count each.
struct PlaneShape {
  int width;
  int height;
  int sample_size;

  int row_bytes() const { return width * sample_size; }
};

inline PlaneShape plane_shape(const GstVideoInfo &info, int plane) {
  // The last component of plane i is component i in planar and semi-planar formats up to the order
  // of U and V, which have the same size.
  const int size = sample_size(info.finfo);
  const int samples = GST_VIDEO_INFO_COMP_PSTRIDE(&info, plane) / size;
  return {GST_VIDEO_INFO_COMP_WIDTH(&info, plane) * samples,
          GST_VIDEO_INFO_COMP_HEIGHT(&info, plane), size};
}

/// Where the planes of a frame lie, in host or in device memory.
struct Picture {
  const GstVideoInfo *info;
  std::array<guint8 *, GST_VIDEO_MAX_PLANES> data{};
  std::array<int, GST_VIDEO_MAX_PLANES> stride{};

  int n_planes() const { return GST_VIDEO_INFO_N_PLANES(info); }

  template <typename T>
  Plane<T> plane(int i) const {
    using Sample = std::remove_const_t<T>;
    const PlaneShape shape = plane_shape(*info, i);
    const Range range = luma_range(*info);
    return {reinterpret_cast<T *>(data[i]),
            shape.width,
            shape.height,
            stride[i],
            static_cast<Sample>(maximum(info->finfo)),
            static_cast<Sample>(range.black),
            static_cast<Sample>(range.white)};
  }
  InPlane in_plane(int i) const {
    if (sample_size(info->finfo) == 1) return plane<const std::uint8_t>(i);
    return plane<const std::uint16_t>(i);
  }
  OutPlane out_plane(int i) const {
    if (sample_size(info->finfo) == 1) return plane<std::uint8_t>(i);
    return plane<std::uint16_t>(i);
  }
};

/// Queues (or does) a copy of plane `i`, which both pictures have in the same format.
template <typename Exec>
void copy_plane(Exec &exec, const Picture &in, const Picture &out, int i) {
  if (sample_size(in.info->finfo) == 1)
    copy(exec, in.plane<const std::uint8_t>(i), out.plane<std::uint8_t>(i));
  else
    copy(exec, in.plane<const std::uint16_t>(i), out.plane<std::uint16_t>(i));
}

/// Takes the colour out of chroma plane `i`.
template <typename Exec>
void neutralize_plane(Exec &exec, const Picture &out, int i) {
  const guint value = neutral_chroma(out.info->finfo);
  if (sample_size(out.info->finfo) == 1)
    fill(exec, out.plane<std::uint8_t>(i), static_cast<std::uint8_t>(value));
  else
    fill(exec, out.plane<std::uint16_t>(i), static_cast<std::uint16_t>(value));
}

/// A frame mapped for the scope.
class MappedFrame {
 public:
  /// @param flags  GST_MAP_READ or GST_MAP_WRITE, with GST_MAP_CUDA for device memory
  /// @throws Error when the buffer cannot be mapped
  MappedFrame(const GstVideoInfo &info, GstBuffer *buffer, guint flags) {
    if (!gst_video_frame_map(&frame_, &info, buffer,
                             static_cast<GstMapFlags>(flags | GST_VIDEO_FRAME_MAP_FLAG_NO_REF)))
      throw Error(flags & GST_MAP_WRITE ? "could not map a frame for writing"
                                        : "could not map a frame for reading");
  }
  ~MappedFrame() { gst_video_frame_unmap(&frame_); }
  MappedFrame(const MappedFrame &) = delete;
  MappedFrame &operator=(const MappedFrame &) = delete;

  Picture picture() const {
    Picture picture{&frame_.info};
    for (int i = 0; i < picture.n_planes(); ++i) {
      picture.data[i] = static_cast<guint8 *>(frame_.data[i]);
      picture.stride[i] = frame_.info.stride[i];
    }
    return picture;
  }

 private:
  GstVideoFrame frame_;
};

}  // namespace cudascan::gst
