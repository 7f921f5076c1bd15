// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// How frames lie in device memory of ours.
#pragma once
#include "gst/picture.h"

namespace cudascan::gst {

inline constexpr int kPitchAlignment = 256;

/// Where the planes of a frame would lie in one block of memory, rows aligned for the GPU.
inline Picture lay_out(const GstVideoInfo &info, int n_planes, std::size_t *bytes) {
  Picture picture{&info};
  std::size_t offset = 0;
  for (int i = 0; i < n_planes; ++i) {
    const PlaneShape shape = plane_shape(info, i);
    picture.stride[i] =
        (shape.row_bytes() + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
    picture.data[i] = reinterpret_cast<guint8 *>(offset);
    offset += static_cast<std::size_t>(picture.stride[i]) * shape.height;
  }
  *bytes = offset;
  return picture;
}

inline Picture placed(Picture layout, int n_planes, void *base) {
  for (int i = 0; i < n_planes; ++i)
    layout.data[i] = static_cast<guint8 *>(base) + reinterpret_cast<std::size_t>(layout.data[i]);
  return layout;
}

/// A frame as it will lie in device memory, for CudaLoader, which touches none.
inline Picture picture_nowhere(const GstVideoInfo &info) {
  std::size_t bytes;
  const int n = static_cast<int>(GST_VIDEO_INFO_N_PLANES(&info));
  return placed(lay_out(info, n, &bytes), n, reinterpret_cast<void *>(std::uintptr_t{1} << 40));
}

}  // namespace cudascan::gst
