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

/// Size of one plane in samples of its format; all samples of packed components count. Words with
/// samples of 10 bits count as two.
struct PlaneShape {
  int width;
  int height;
  int sample_size;

  int row_bytes() const { return width * sample_size; }
};

inline PlaneShape plane_shape(const GstVideoInfo &info, int plane) {
  PlaneShape shape{0, 0, sample_size(info.finfo)};
  if (const auto tens = tens_of(info.finfo))
    return {2 * words_of(*tens, GST_VIDEO_INFO_WIDTH(&info)), GST_VIDEO_INFO_FIELD_HEIGHT(&info),
            shape.sample_size};
  for (int i = 0; i < static_cast<int>(GST_VIDEO_INFO_N_COMPONENTS(&info)); ++i) {
    if (static_cast<int>(GST_VIDEO_INFO_COMP_PLANE(&info, i)) != plane) continue;
    // In a row of YUY2 with an odd number of pixels there are more samples for chroma.
    shape.width = MAX(shape.width, GST_VIDEO_INFO_COMP_WIDTH(&info, i) *
                                       GST_VIDEO_INFO_COMP_PSTRIDE(&info, i) / shape.sample_size);
    shape.height = GST_VIDEO_INFO_COMP_HEIGHT(&info, i);
  }
  return shape;
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

/// The place of a component in a plane, in samples. GStreamer 1.22 puts the V of P010_10LE and
/// similar formats one byte after U instead of two.
inline int component_offset(const GstVideoInfo &info, int component) {
  const int size = sample_size(info.finfo);
  return (GST_VIDEO_INFO_COMP_POFFSET(&info, component) + size - 1) / size;
}
/// The distance of neighbouring samples of a component.
inline int component_step(const GstVideoInfo &info, int component) {
  return GST_VIDEO_INFO_COMP_PSTRIDE(&info, component) / sample_size(info.finfo);
}

/// The chroma of a picture in YUV as U and V.
template <typename T>
ChromaPlanes<T> chroma_planes(const Picture &picture) {
  const GstVideoInfo *info = picture.info;
  const auto component = [&](int c) {
    Plane<T> samples = picture.plane<T>(GST_VIDEO_INFO_COMP_PLANE(info, c));
    samples.width = GST_VIDEO_INFO_COMP_WIDTH(info, c);
    samples.data += component_offset(*info, c);
    return samples;
  };
  return {component(1), component(2), component_step(*info, 1),
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
