// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The planes of a video frame for operators, in any memory.
#pragma once
#include <gst/video/video.h>

#include <array>
#include <variant>

#include "common/plane.h"
#include "gst/formats.h"
#include "kernels/hue.h"
#include "kernels/planes.h"

namespace cudascan::gst {

using InPlane = std::variant<Plane<const std::uint8_t>, Plane<const std::uint16_t>>;
using OutPlane = std::variant<Plane<std::uint8_t>, Plane<std::uint16_t>>;

/// The planes for an operator: the luma of both sides, 8 or 16 bits each.
struct Luma {
  InPlane in;
  OutPlane out;
};

/// Where the chroma of a result comes from.
enum class Chroma {
  copied,   ///< from the input
  neutral,  ///< no colour
  hue,      ///< from the luma of the result, which has angles for paint_hues()
};

/// Size of one plane in samples of its format; in semi-planar formats U and V count separately.
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

/// The location of a frame's planes in host or device memory; rows may be anywhere.
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

/// The chroma planes of a picture in YUV as U and V.
template <typename T>
ChromaPlanes<T> chroma_planes(const Picture &picture) {
  const GstVideoInfo *info = picture.info;
  const auto component = [&](int c) {
    Plane<T> samples = picture.plane<T>(GST_VIDEO_INFO_COMP_PLANE(info, c));
    samples.width = GST_VIDEO_INFO_COMP_WIDTH(info, c);
    // The second in a semi-planar format. GStreamer 1.22 puts the V of P010_10LE and similar
    // formats one byte after U instead of two.
    if (GST_VIDEO_INFO_COMP_POFFSET(info, c) > 0) ++samples.data;
    return samples;
  };
  return {component(1), component(2),
          GST_VIDEO_INFO_COMP_PSTRIDE(info, 1) / sample_size(info->finfo),
          static_cast<int>(GST_VIDEO_FORMAT_INFO_W_SUB(info->finfo, 1)),
          static_cast<int>(GST_VIDEO_FORMAT_INFO_H_SUB(info->finfo, 1))};
}

/// Queues (or does) a copy of plane `i`, which has the same format in both pictures, byte by byte;
/// on the CPU, from and to any address.
template <typename Exec>
void copy_plane(Exec &exec, const Picture &in, const Picture &out, int i) {
  const PlaneShape shape = plane_shape(*out.info, i);
  copy(exec, Plane<const std::uint8_t>{in.data[i], shape.row_bytes(), shape.height, in.stride[i]},
       Plane<std::uint8_t>{out.data[i], shape.row_bytes(), shape.height, out.stride[i]});
}

/// Makes chroma plane `i` neutral.
template <typename Exec>
void neutralize_plane(Exec &exec, const Picture &out, int i) {
  const guint value = neutral_chroma(out.info->finfo);
  if (sample_size(out.info->finfo) == 1)
    fill(exec, out.plane<std::uint8_t>(i), static_cast<std::uint8_t>(value));
  else
    fill(exec, out.plane<std::uint16_t>(i), static_cast<std::uint16_t>(value));
}

/// Adds the chroma to a result that has its luma.
template <typename Exec>
void make_chroma(Exec &exec, Chroma from, const Picture &in, const Picture &out) {
  if (out.n_planes() == 1) return;
  if (from == Chroma::hue) {
    if (sample_size(out.info->finfo) == 1)
      paint_hues(exec, out.plane<const std::uint8_t>(0), chroma_planes<std::uint8_t>(out));
    else
      paint_hues(exec, out.plane<const std::uint16_t>(0), chroma_planes<std::uint16_t>(out));
    return;
  }
  for (int i = 1; i < out.n_planes(); ++i)
    if (from == Chroma::neutral)
      neutralize_plane(exec, out, i);
    else
      copy_plane(exec, in, out, i);
}

}  // namespace cudascan::gst
