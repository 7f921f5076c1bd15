// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Converts buffers with any memory layout to pictures that operators accept.
#pragma once
#include <cstddef>
#include <functional>
#include <vector>

#include "common/error.h"
#include "gst/picture.h"

namespace cudascan::gst {

/// A buffer that contradicts its caps or its GstVideoMeta.
struct BadFrame : Error {
  using Error::Error;
};

/// A frame mapped for the scope. Every row of picture() is in mapped memory, but rows may go
/// upwards and samples may be unaligned.
class MappedFrame {
 public:
  /// @param info   of the caps; must outlive this object
  /// @param flags  GST_MAP_READ or GST_MAP_WRITE, with GST_MAP_CUDA for device memory
  /// @throws BadFrame when the buffer is too small or its GstVideoMeta is wrong; Error when it
  ///         cannot be mapped
  MappedFrame(const GstVideoInfo &info, GstBuffer *buffer, guint flags);
  ~MappedFrame() { unmap(); }
  MappedFrame(const MappedFrame &) = delete;
  MappedFrame &operator=(const MappedFrame &) = delete;

  const Picture &picture() const { return picture_; }

 private:
  void map_planes(GstMapFlags flags);
  void map_whole(GstMapFlags flags);
  void unmap();
  bool holds(int plane, const GstMapInfo &map) const;

  GstBuffer *buffer_;
  GstVideoMeta *meta_;
  Picture picture_;
  std::array<GstMapInfo, GST_VIDEO_MAX_PLANES> maps_{};
  int n_maps_ = 0;      ///< number of maps
  bool whole_ = false;  ///< the first map is of all memory of the buffer
};

/// Whether operators accept a picture directly: rows go downwards, samples are aligned.
bool is_aligned(const Picture &picture, int n_planes);

/// The first planes of a frame in one block of memory, rows aligned for the GPU.
/// @param reserve  returns a block of so many bytes, aligned to 16
Picture lay_out(const GstVideoInfo &info, int n_planes,
                const std::function<void *(std::size_t)> &reserve);

/// A picture in host memory that operators accept: the given one, or a block of memory instead.
class AlignedPicture {
 public:
  explicit AlignedPicture(const Picture &frame);

  const Picture &picture() const { return picture_; }
  /// Copies the frame to the block, if there is one.
  void fetch(Cpu &cpu);
  /// Copies the block, if there is one, to the frame.
  void store(Cpu &cpu) const;

 private:
  Picture frame_, picture_;
  std::vector<std::max_align_t> block_;
};

}  // namespace cudascan::gst
