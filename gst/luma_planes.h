// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Frames whose luma has no plane of its own: RGB, packed YUV, and samples in parts of words.
/// Operators then work on a plane that is made for them.
#pragma once
#include "gst/picture.h"
#include "kernels/luma.h"

namespace cudascan::gst {

/// A plane for the luma of a frame.
template <typename T>
Plane<T> luma_plane(const GstVideoInfo &info, void *data, int stride) {
  Picture picture{&info};
  Plane<T> plane = picture.plane<T>(0);
  plane.data = static_cast<T *>(data);
  plane.stride = stride;
  plane.width = GST_VIDEO_INFO_WIDTH(&info);
  plane.height = GST_VIDEO_INFO_FIELD_HEIGHT(&info);
  return plane;
}

/// A frame in RGB.
template <typename T>
RgbPlanes<T> rgb_planes(const Picture &picture) {
  const GstVideoInfo &info = *picture.info;
  RgbPlanes<T> rgb;
  rgb.step = component_step(info, 0);
  const auto component = [&](int plane, int offset) {
    Plane<T> samples = picture.plane<T>(plane);
    samples.data += offset;
    samples.width = GST_VIDEO_INFO_WIDTH(&info);
    return samples;
  };
  Plane<T> *const of[] = {&rgb.red, &rgb.green, &rgb.blue, &rgb.other};
  const int n = MIN(static_cast<int>(GST_VIDEO_INFO_N_COMPONENTS(&info)), 4);
  int offsets = 0;
  for (int i = 0; i < n; ++i) {
    *of[i] = component(GST_VIDEO_INFO_COMP_PLANE(&info, i), component_offset(info, i));
    offsets += component_offset(info, i);
  }
  if (n == 3 && rgb.step == 4) {  // RGBx and the like
    rgb.other = component(0, 0 + 1 + 2 + 3 - offsets);
    rgb.is_alpha = false;
  }
  return rgb;
}

/// A frame in packed YUV.
template <typename T>
PackedYuv<T> packed_yuv(const Picture &picture) {
  const GstVideoInfo &info = *picture.info;
  return {picture.plane<T>(0), GST_VIDEO_INFO_WIDTH(&info), component_offset(info, 0),
          component_step(info, 0),
          GST_VIDEO_INFO_N_COMPONENTS(&info) == 4 ? component_offset(info, 3) : -1};
}

/// A frame with samples of 10 bits in words.
template <typename Word>
PackedTens<Word> packed_tens(const Picture &picture) {
  const GstVideoInfo &info = *picture.info;
  const PlaneShape shape = plane_shape(info, 0);
  return {
      {reinterpret_cast<Word *>(picture.data[0]), shape.width / 2, shape.height, picture.stride[0]},
      GST_VIDEO_INFO_WIDTH(&info),
      *tens_of(info.finfo)};
}

/// The weights of the frame's colorimetry. What RGB has as its matrix does not tell them, but its
/// primaries do: sRGB has those of BT.709.
LumaWeights weights_of(const GstVideoInfo &info);

/// Makes the luma of a frame that has no plane of it.
template <typename Exec, typename T>
void fetch_luma(Exec &exec, const Picture &from, Plane<T> to) {
  if constexpr (sizeof(T) == 2)
    if (tens_of(from.info->finfo))
      return get_luma(exec, packed_tens<const std::uint32_t>(from), weights_of(*from.info), to);
  if (GST_VIDEO_INFO_IS_RGB(from.info))
    get_luma(exec, rgb_planes<const T>(from), weights_of(*from.info), to);
  else
    get_luma(exec, packed_yuv<const T>(from), to);
}

/// Puts the luma of a result into a frame that has no plane of it.
/// @param in  a frame of the same format: colours, alpha and padding
template <typename Exec, typename T>
void put_luma(Exec &exec, const Picture &in, Plane<const T> luma, Chroma chroma,
              const Picture &out) {
  const Colors colors = chroma == Chroma::copied ? Colors::kept : Colors::none;
  if constexpr (sizeof(T) == 2)
    if (tens_of(in.info->finfo))
      return set_luma(exec, packed_tens<const std::uint32_t>(in), weights_of(*in.info), luma,
                      colors, packed_tens<std::uint32_t>(out));
  if (GST_VIDEO_INFO_IS_RGB(in.info)) {
    set_luma(exec, rgb_planes<const T>(in), weights_of(*in.info), luma, colors, rgb_planes<T>(out));
    return;
  }
  set_luma(exec, packed_yuv<const T>(in), luma, colors, packed_yuv<T>(out));
  if (chroma == Chroma::hue) paint_hues(exec, luma, chroma_planes<T>(out));
}

/// The planes that an operator works on for a frame: those of the luma or, if there is none, rows
/// in memory of our own.
class LumaPlanes {
 public:
  /// @param reserve_in, reserve_out  return memory of so many bytes, aligned for the GPU
  template <typename ReserveIn, typename ReserveOut>
  LumaPlanes(const Picture &in, const Picture &out, const ReserveIn &reserve_in,
             const ReserveOut &reserve_out)
      : in_(in), out_(out) {
    if (!has_luma_plane(in.info->finfo)) made_in_ = reserve_in(bytes_of(*in.info));
    if (!has_luma_plane(out.info->finfo)) made_out_ = reserve_out(bytes_of(*out.info));
  }

  /// Makes the luma of the input, if it is not there.
  template <typename Exec>
  Luma fetch(Exec &exec) const {
    if (sample_size(in_.info->finfo) == 1) return fetch<std::uint8_t>(exec);
    return fetch<std::uint16_t>(exec);
  }
  /// Puts the result into the output, if it is not there. Does nothing else with chroma.
  /// @return whether the output was without its luma, and is complete now
  template <typename Exec>
  bool put(Exec &exec, Chroma chroma) const {
    if (!made_out_) return false;
    if (sample_size(out_.info->finfo) == 1)
      put_luma(exec, in_, Plane<const std::uint8_t>(made_out<std::uint8_t>()), chroma, out_);
    else
      put_luma(exec, in_, Plane<const std::uint16_t>(made_out<std::uint16_t>()), chroma, out_);
    return true;
  }

 private:
  static int stride_of(const GstVideoInfo &info) {
    constexpr int kTo = 256;
    return (GST_VIDEO_INFO_WIDTH(&info) * sample_size(info.finfo) + kTo - 1) / kTo * kTo;
  }
  static std::size_t bytes_of(const GstVideoInfo &info) {
    return static_cast<std::size_t>(stride_of(info)) * GST_VIDEO_INFO_FIELD_HEIGHT(&info);
  }
  template <typename T>
  Plane<T> made_out() const {
    return luma_plane<T>(*out_.info, made_out_, stride_of(*out_.info));
  }
  OutPlane out_plane() const {
    if (!made_out_) return out_.out_plane(0);
    if (sample_size(out_.info->finfo) == 1) return made_out<std::uint8_t>();
    return made_out<std::uint16_t>();
  }
  template <typename T, typename Exec>
  Luma fetch(Exec &exec) const {
    if (!made_in_) return {in_.in_plane(0), out_plane()};
    const Plane<T> luma = luma_plane<T>(*in_.info, made_in_, stride_of(*in_.info));
    fetch_luma(exec, in_, luma);
    return {Plane<const T>(luma), out_plane()};
  }

  Picture in_, out_;
  void *made_in_ = nullptr, *made_out_ = nullptr;
};

}  // namespace cudascan::gst
