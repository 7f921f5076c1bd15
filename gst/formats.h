// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Which formats the elements take, and how the caps of their two pads go together.
#pragma once
#include <gst/video/video.h>

namespace cudascan::gst {

/// Caps of both pad templates: every format in system memory and, in builds with libgstcuda, in
/// CUDAMemory.
GstCaps *template_caps();

/// What the filter can do now; narrows what the templates promise.
struct Abilities {
  bool cuda_memory;      ///< CUDAMemory can be used: there are a driver and a device
  bool gray8_from_deep;  ///< the result may be GRAY8 where the input has 16-bit samples
};

/// The caps that the other pad may have when one has `caps`, the same format and memory first.
/// @param direction  direction of the pad that has `caps`
GstCaps *other_pad_caps(GstPadDirection direction, const GstCaps *caps, Abilities abilities);

/// Fixes the caps of one pad, `candidates` (taken), for those of the other, `caps`: the same format
/// where possible; CUDAMemory or not as `in_cuda` says where there is a choice.
GstCaps *fixate(GstCaps *candidates, const GstCaps *caps, bool in_cuda);

/// Whether the first (or only) structure asks for CUDAMemory.
bool is_cuda(const GstCaps *caps);

/// Whether some structure asks for CUDAMemory.
bool names_cuda(const GstCaps *caps);

/// Leaves out the structures with CUDAMemory; for machines where there is none. Takes `caps`.
GstCaps *without_cuda(GstCaps *caps);

/// The same caps with one kind of memory before the other. Takes `caps`.
GstCaps *cuda_first(GstCaps *caps, bool cuda);

/// The largest luma sample of a format: 255, 1023 for I420_10LE, 0xffc0 for P010_10LE ...
guint maximum(const GstVideoFormatInfo *format);

/// The luma samples that stand for black and white: those of limited range where the caps say so
/// or, for YUV, say nothing.
struct Range {
  guint black, white;
};
Range luma_range(const GstVideoInfo &info);

/// The chroma sample without colour.
guint neutral_chroma(const GstVideoFormatInfo *format);

/// Bytes per sample, 1 or 2.
int sample_size(const GstVideoFormatInfo *format);

}  // namespace cudascan::gst
