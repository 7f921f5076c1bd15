// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The property `roi-from`: regions of interest that come with the frames, as metas.
#pragma once
#include <gst/video/video.h>

#include "gst/properties.h"
#include "kernels/histogram.h"

namespace cudascan::gst {

enum class RoiFrom { none, crop, meta };

template <>
struct EnumTable<RoiFrom> {
  static constexpr const char *type_name = "GstCudaScanRoiFrom";
  static constexpr EnumEntry<RoiFrom> values[] = {
      {RoiFrom::none, "Only the property roi", "none"},
      {RoiFrom::crop, "The frame's GstVideoCropMeta", "crop"},
      {RoiFrom::meta, "The frame's GstVideoRegionOfInterestMeta; of several, what encloses them",
       "meta"}};
};

/// The region of interest of a frame: what its metas tell, clipped to the frame. If they tell
/// nothing, or nothing inside the frame, it is the one of the property `roi`.
Rectangle region_of(GstBuffer *frame, const GstVideoInfo &info, RoiFrom from, const Rectangle &roi);

/// The params of an operator that has a region of interest, and where it comes from.
template <typename Params>
struct ParamsWithRoiFrom : Params {
  RoiFrom roi_from = RoiFrom::none;
};

/// What an element has for the region of interest of its operator: nothing, if there is none.
template <typename P>
struct RoiSettings {
  using Params = P;
  static constexpr std::tuple<> properties{};
  static void follow(Params &, GstBuffer *, const GstVideoInfo &) {}
};

template <typename P>
requires requires(P &params) {
  params.roi;
}
struct RoiSettings<P> {
  using Params = ParamsWithRoiFrom<P>;
  static constexpr std::tuple properties{
      Property{"roi-from", "Region of interest from",
               "Metas of the frames that replace roi where there are any", &Params::roi_from}};
  /// Replaces the region by that of a frame.
  static void follow(Params &params, GstBuffer *frame, const GstVideoInfo &info) {
    params.roi = region_of(frame, info, params.roi_from, params.roi);
  }
};

}  // namespace cudascan::gst
