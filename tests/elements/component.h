// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The samples of mapped frames, component by component.
#pragma once
#include <algorithm>
#include <cstring>
#include <iterator>

#include "tests/elements/support.h"

namespace cudascan::elements {

/// Where a component has its samples in formats with samples of 10 bits in words: every step-th
/// sample from the first on. GStreamer does not tell.
struct InWords {
  GstVideoFormat format;
  int first[3], step[3];
};
inline constexpr InWords kInWords[] = {{GST_VIDEO_FORMAT_GRAY10_LE32, {0}, {1}},
                                       {GST_VIDEO_FORMAT_v210, {1, 0, 2}, {2, 4, 4}},
                                       {GST_VIDEO_FORMAT_Y410, {1, 0, 2}, {3, 3, 3}},
                                       {GST_VIDEO_FORMAT_RGB10A2_LE, {0, 1, 2}, {3, 3, 3}},
                                       {GST_VIDEO_FORMAT_BGR10A2_LE, {2, 1, 0}, {3, 3, 3}}};

inline const InWords *in_words(GstVideoFormat format) {
  const auto *const found = std::find_if(std::begin(kInWords), std::end(kInWords),
                                         [&](const InWords &w) { return w.format == format; });
  return found == std::end(kInWords) ? nullptr : found;
}

/// One component of a mapped frame.
struct Component {
  guint8 *data;
  int width, height, stride, step;
  bool deep;
  const InWords *words;
  int number;

  Component(GstVideoFrame &frame, int c)
      : data(static_cast<guint8 *>(
            GST_VIDEO_FRAME_PLANE_DATA(&frame, GST_VIDEO_FRAME_COMP_PLANE(&frame, c)))),
        width(GST_VIDEO_FRAME_COMP_WIDTH(&frame, c)),
        height(GST_VIDEO_FRAME_COMP_HEIGHT(&frame, c)),
        stride(GST_VIDEO_FRAME_COMP_STRIDE(&frame, c)),
        step(GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, c)),
        deep(GST_VIDEO_FRAME_COMP_DEPTH(&frame, c) > 8),
        words(in_words(GST_VIDEO_FRAME_FORMAT(&frame))),
        number(c) {
    // Not COMP_DATA: in GStreamer 1.22 it points to the V of P010_10LE and similar formats one byte
    // after U instead of two.
    const int offset = GST_VIDEO_FRAME_COMP_POFFSET(&frame, c);
    data += deep ? (offset + 1) / 2 * 2 : offset;
  }

  /// Calls visit(sample, index) for each sample, and stores what it makes of it
  /// if that is another value.
  template <typename Visit>
  void each(Visit visit) {
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        guint8 *const row = data + static_cast<std::ptrdiff_t>(y) * stride;
        const std::size_t index = static_cast<std::size_t>(y) * width + x;
        if (words)
          in_word(row, x, [&](std::uint16_t &sample) { visit(sample, index); });
        else
          in_bytes(row + static_cast<std::ptrdiff_t>(x) * step, deep ? 2 : 1,
                   [&](std::uint16_t &sample) { visit(sample, index); });
      }
  }

 private:
  template <typename Visit>
  static void in_bytes(guint8 *at, int bytes, Visit visit) {
    std::uint16_t before = 0;
    std::memcpy(&before, at, bytes);  // little-endian, like all tested formats
    std::uint16_t sample = before;
    visit(sample);
    if (sample != before) std::memcpy(at, &sample, bytes);
  }
  template <typename Visit>
  void in_word(guint8 *row, int x, Visit visit) {
    const bool is_alpha = number == 3;
    const int place = is_alpha ? 3 * x + 3 : words->first[number] + x * words->step[number];
    guint8 *const at = row + (is_alpha ? x : place / 3) * 4;
    const int shift = is_alpha ? 30 : place % 3 * 10;
    const std::uint32_t mask = (is_alpha ? 3U : 1023U) << shift;
    std::uint32_t before;
    std::memcpy(&before, at, sizeof before);
    auto sample = static_cast<std::uint16_t>((before & mask) >> shift);
    visit(sample);
    const std::uint32_t word = (before & ~mask) | std::uint32_t{sample} << shift;
    if (word != before) std::memcpy(at, &word, sizeof word);
  }
};

/// Bytes of a row of a plane.
inline int row_bytes(const Picture &p, const GstVideoInfo &info, unsigned plane) {
  switch (p.format) {
    case GST_VIDEO_FORMAT_GRAY10_LE32:
      return (p.width + 2) / 3 * 4;
    case GST_VIDEO_FORMAT_v210:
      return (p.width + 5) / 6 * 16;
    default:
      break;
  }
  gint components[GST_VIDEO_MAX_COMPONENTS];
  gst_video_format_info_component(info.finfo, plane, components);
  int bytes = 0;  // in YUY2 two chroma samples may need more than one luma sample
  for (const gint c : components)
    if (c >= 0)
      bytes = std::max(bytes, p.component_width(c) * GST_VIDEO_INFO_COMP_PSTRIDE(&info, c));
  return bytes;
}

}  // namespace cudascan::elements
