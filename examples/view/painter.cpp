// SPDX-License-Identifier: LGPL-2.1-or-later
#include "painter.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "text.h"

namespace cudascan::view {
namespace {

constexpr GstVideoFormat kCairoFormat =
    G_BYTE_ORDER == G_LITTLE_ENDIAN ? GST_VIDEO_FORMAT_BGRx : GST_VIDEO_FORMAT_xRGB;
constexpr int kBlock = 4;  // parts begin and end at multiples, for formats with coarser chroma
constexpr double kLabelSize = 12, kLabelMargin = 8;

void draw_label(cairo_t *cairo, double left, double right, double y, const char *text,
                bool at_right) {
  const double width = text_width(cairo, text, kLabelSize) + 2 * kLabelMargin;
  if (right - left < width + 2 * kLabelMargin) return;
  const double x = at_right ? right - width - kLabelMargin : left + kLabelMargin;
  cairo_set_source_rgba(cairo, 0, 0, 0, 0.6);
  cairo_rectangle(cairo, x, y, width, kLabelSize + kLabelMargin);
  cairo_fill(cairo);
  cairo_set_source_rgb(cairo, 1, 1, 1);
  draw_text(cairo, x + kLabelMargin, y + kLabelSize + 2, text, kLabelSize);
}

}  // namespace

Painter::~Painter() {
  for (const Side &side : sides_)
    if (side.converter) gst_video_converter_free(side.converter);
}

void Painter::paint(cairo_t *cairo, const Frame &frame, const Placement &p, double divider,
                    int width, int height) {
  // The visible part of the frame, in its pixels and in the area.
  const double scale_x = p.scale * frame.pixel_aspect();
  const auto first = [&](double origin, double scale) {
    return std::max(static_cast<int>(std::floor(-origin / scale)), 0) / kBlock * kBlock;
  };
  const auto end = [&](double origin, double scale, int area, int most) {
    const double last = std::ceil((area - origin) / scale);
    return static_cast<int>(std::clamp(std::ceil(last / kBlock) * kBlock, 0.0, double(most)));
  };
  const int x0 = first(p.left, scale_x), x1 = end(p.left, scale_x, width, frame.width());
  const int y0 = first(p.top, p.scale), y1 = end(p.top, p.scale, height, frame.height());
  if (x1 <= x0 || y1 <= y0) return;
  const double left = std::max(p.left + scale_x * x0, 0.0);
  const double right = std::min(p.left + scale_x * x1, double(width));
  const double top = std::max(p.top + p.scale * y0, 0.0);
  const double bottom = std::min(p.top + p.scale * y1, double(height));
  const double middle =
      std::clamp(std::round(p.left + scale_x * divider * frame.width()), left, right);
  const int column = static_cast<int>((middle - p.left) / scale_x);

  const auto paint_half = [&](int i, GstBuffer *buffer, double begin, double end, int from,
                              int to) {
    if (end <= begin || to <= from) return;
    cairo_save(cairo);
    cairo_rectangle(cairo, begin, top, end - begin, bottom - top);
    cairo_clip(cairo);
    paint_side(cairo, sides_[i], buffer, frame.info(), {from, y0, to - from, y1 - y0}, p, scale_x);
    cairo_restore(cairo);
  };
  paint_half(0, frame.before(), left, middle, x0, std::min((column / kBlock + 1) * kBlock, x1));
  paint_half(1, frame.after(), middle, right, std::max(column / kBlock * kBlock, x0), x1);

  if (middle > left && middle < right) {  // visible on any picture
    for (const double gray : {0.0, 1.0}) {
      cairo_set_source_rgb(cairo, gray, gray, gray);
      cairo_rectangle(cairo, middle - 1 + gray, top, 1, bottom - top);
      cairo_fill(cairo);
    }
  }
  draw_label(cairo, left, middle, top + kLabelMargin, "before", false);
  draw_label(cairo, middle, right, top + kLabelMargin, "after", true);
}

void Painter::paint_side(cairo_t *cairo, Side &side, GstBuffer *buffer, const GstVideoInfo &info,
                         const Box &part, const Placement &p, double scale_x) {
  // A frame that is shown smaller is converted to that size; a larger one keeps hard pixels.
  const auto shrunk = [](int pixels, double scale) {
    return std::max(static_cast<int>(std::lround(pixels * std::min(scale, 1.0))), 1);
  };
  const int width = shrunk(part.width, scale_x), height = shrunk(part.height, p.scale);
  if (!side.converter || !gst_video_info_is_equal(&side.from, &info) || side.part != part ||
      side.to.width != width || side.to.height != height) {
    if (side.converter) gst_video_converter_free(side.converter);
    side.from = info;
    side.part = part;
    gst_video_info_set_format(&side.to, kCairoFormat, static_cast<guint>(width),
                              static_cast<guint>(height));
    side.to.fps_n = info.fps_n;  // the converter wants the same
    side.to.fps_d = info.fps_d;
    side.to.interlace_mode = info.interlace_mode;
    side.converter = gst_video_converter_new(
        &side.from, &side.to,
        gst_structure_new("options", GST_VIDEO_CONVERTER_OPT_SRC_X, G_TYPE_INT, part.x,
                          GST_VIDEO_CONVERTER_OPT_SRC_Y, G_TYPE_INT, part.y,
                          GST_VIDEO_CONVERTER_OPT_SRC_WIDTH, G_TYPE_INT, part.width,
                          GST_VIDEO_CONVERTER_OPT_SRC_HEIGHT, G_TYPE_INT, part.height,
                          GST_VIDEO_CONVERTER_OPT_RESAMPLER_METHOD, GST_TYPE_VIDEO_RESAMPLER_METHOD,
                          GST_VIDEO_RESAMPLER_METHOD_LINEAR, nullptr));
    if (!side.converter) return;
  }
  const std::unique_ptr<cairo_surface_t, decltype(&cairo_surface_destroy)> surface(
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height), cairo_surface_destroy);
  const int stride = cairo_image_surface_get_stride(surface.get());
  GstBuffer *pixels = gst_buffer_new_wrapped_full(
      static_cast<GstMemoryFlags>(0), cairo_image_surface_get_data(surface.get()),
      static_cast<gsize>(stride) * height, 0, static_cast<gsize>(stride) * height, nullptr,
      nullptr);
  GstVideoFrame from, to;
  if (gst_video_frame_map(&from, &info, buffer, GST_MAP_READ)) {
    if (gst_video_frame_map(&to, &side.to, pixels, GST_MAP_WRITE)) {
      gst_video_converter_frame(side.converter, &from, &to);
      gst_video_frame_unmap(&to);
    }
    gst_video_frame_unmap(&from);
  }
  gst_buffer_unref(pixels);
  cairo_surface_mark_dirty(surface.get());
  cairo_save(cairo);
  cairo_translate(cairo, p.left + scale_x * part.x, p.top + p.scale * part.y);
  cairo_scale(cairo, scale_x * part.width / width, p.scale * part.height / height);
  cairo_set_source_surface(cairo, surface.get(), 0, 0);
  cairo_pattern_set_filter(cairo_get_source(cairo),
                           p.scale >= 2 ? CAIRO_FILTER_NEAREST : CAIRO_FILTER_GOOD);
  cairo_paint(cairo);
  cairo_restore(cairo);
}

}  // namespace cudascan::view
