// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What becomes of the frames: in place of your program, a file of their pixels.
#pragma once
#include <gst/video/video.h>
#ifdef HAVE_GST_CUDA
#include <gst/cuda/gstcudamemory.h>

#include "common/error.h"
#include "kernels/cuda_resources.h"
#endif

#include <cstddef>
#include <fstream>
#include <vector>

#ifdef HAVE_GST_CUDA
inline constexpr int kMapCuda = GST_MAP_CUDA;

/// The rows of a plane in device memory, without gaps between them.
/// @param row  an address on the GPU, as kernels and libraries there take it; valid while the frame is
///             mapped and the context of its memory is current
/// @return nothing when CUDA failed
inline std::vector<char> download(GstBuffer *buffer, const char *row, int stride, int width,
                                  int height) {
  std::vector<char> rows(static_cast<std::size_t>(width) * height);
  gst_cuda_context_push(GST_CUDA_MEMORY_CAST(gst_buffer_peek_memory(buffer, 0))->context);
  try {
    cudascan::cuda::copy_rows(rows.data(), width, row, stride, width, height, nullptr);
  } catch (const cudascan::Error &) {  // must not pass GStreamer
    rows.clear();
  }
  gst_cuda_context_pop(nullptr);
  return rows;
}
#else
inline constexpr int kMapCuda = 0;
inline std::vector<char> download(GstBuffer *, const char *, int, int, int) {
  return {};
}
#endif

/// Appends the gray pixels of a frame to a file, row by row.
/// @param in_cuda  take them in the memory of the GPU, where the sample must be
/// @return false if they cannot be read or written
inline bool take_frame(GstSample *sample, bool in_cuda, std::ofstream &file) {
  GstVideoInfo info;
  GstVideoFrame frame;
  GstBuffer *buffer = gst_sample_get_buffer(sample);
  // Waits until the elements are done with the frame, also on the GPU.
  const auto flags = static_cast<GstMapFlags>(GST_MAP_READ | (in_cuda ? kMapCuda : 0));
  if (!gst_video_info_from_caps(&info, gst_sample_get_caps(sample)) ||
      !gst_video_frame_map(&frame, &info, buffer, flags))
    return false;
  const int width = GST_VIDEO_FRAME_WIDTH(&frame), height = GST_VIDEO_FRAME_HEIGHT(&frame);
  auto row = static_cast<const char *>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0));
  int stride = GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0);
  std::vector<char> copy;
  if (in_cuda) {
    copy = download(buffer, row, stride, width, height);
    row = copy.data();
    stride = width;
  }
  const bool ok = !in_cuda || !copy.empty();
  for (int y = 0; y < height && ok && file.is_open(); ++y, row += stride) file.write(row, width);
  gst_video_frame_unmap(&frame);
  return ok && (!file.is_open() || file.flush());
}
