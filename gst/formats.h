// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Which formats the elements support, and how the caps of their two pads depend on each other.
#pragma once
#include <gst/video/video.h>

#include <optional>

#include "kernels/luma.h"

namespace cudascan::gst {

/// Caps of both pad templates: every format in system memory and, in builds with libgstcuda, in
/// CUDAMemory.
GstCaps *template_caps();

/// Which input formats a result may be GRAY8 for, if the next element asks for it.
enum class Gray8From {
  gray8,       ///< the result has chroma or levels of its own
  eight_bits,  ///< a map: numbers of the input's depth
  any,         ///< black and white
};

/// What the filter supports at present; may be less than the templates promise.
struct Abilities {
  bool cuda_memory;  ///< CUDAMemory is usable: there are a driver and a device
  Gray8From gray8_from;
};

/// The possible caps of the other pad when one has `caps`; the same format and memory come first.
/// @param direction  direction of the pad that has `caps`
GstCaps *other_pad_caps(GstPadDirection direction, const GstCaps *caps, Abilities abilities);

/// Fixes the caps of one pad, `candidates` (takes ownership), for those of the other, `caps`: the
/// same format if possible; if there is a choice, CUDAMemory as `in_cuda` says.
GstCaps *fixate(GstCaps *candidates, const GstCaps *caps, bool in_cuda);

/// Whether the first (or only) structure asks for CUDAMemory.
bool is_cuda(const GstCaps *caps);

/// Whether some structure asks for CUDAMemory.
bool names_cuda(const GstCaps *caps);

/// Removes the structures with CUDAMemory, for machines without it. Takes ownership of `caps`.
GstCaps *without_cuda(GstCaps *caps);

/// The same caps with one kind of memory before the other. Takes ownership of `caps`.
GstCaps *cuda_first(GstCaps *caps, bool cuda);

/// The largest luma sample of a format: 255, 1023 for I420_10LE, 0xffc0 for P010_10LE ...
guint maximum(const GstVideoFormatInfo *format);

/// The luma samples for black and white: those of limited range if the caps say so or, for YUV, if
/// they say nothing.
struct Range {
  guint black, white;
};
Range luma_range(const GstVideoInfo &info);

/// Whether the caps do not tell how many bits samples have: cameras of 10 to 14 bits use it, too.
bool has_unknown_bits(const GstVideoInfo &info);

/// The neutral chroma sample.
guint neutral_chroma(const GstVideoFormatInfo *format);

/// Whether the luma is a plane of its own: in gray, planar and semi-planar YUV.
bool has_luma_plane(const GstVideoFormatInfo *format);

/// How samples of 10 bits lie in words, in formats where they do; has_luma_plane() is false then.
std::optional<Tens> tens_of(const GstVideoFormatInfo *format);

/// Bytes per sample, 1 or 2.
int sample_size(const GstVideoFormatInfo *format);

}  // namespace cudascan::gst
