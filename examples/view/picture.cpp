// SPDX-License-Identifier: LGPL-2.1-or-later
#include "picture.h"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <vector>

namespace cudascan::view {
namespace {

constexpr double kMargin = 12, kPlots = 180, kLine = 17;
constexpr std::size_t kColumns = 150;  // characters of a line of text

/// Breaks words into lines that fit the width of the picture.
std::vector<std::string> wrapped(const std::string &text) {
  std::vector<std::string> lines{""};
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > kColumns)
      lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word;
    begin = end + 1;
  }
  return lines;
}

struct FreeSurface {
  void operator()(cairo_surface_t *s) const { cairo_surface_destroy(s); }
};
using Surface = std::unique_ptr<cairo_surface_t, FreeSurface>;

/// Converts the frame to cairo's 32 bits a pixel.
Surface last_frame(GstElement *sink) {
  GstSample *sample = nullptr;
  g_object_get(sink, "last-sample", &sample, nullptr);
  if (!sample) throw std::runtime_error("no frame has arrived");
  GstCaps *caps = gst_caps_from_string(G_BYTE_ORDER == G_LITTLE_ENDIAN ? "video/x-raw,format=BGRx"
                                                                       : "video/x-raw,format=xRGB");
  g_autoptr(GError) error = nullptr;
  GstSample *converted = gst_video_convert_sample(sample, caps, 10 * GST_SECOND, &error);
  gst_sample_unref(sample);
  gst_caps_unref(caps);
  if (!converted)
    throw std::runtime_error(error ? error->message : "the frame cannot be converted");
  GstVideoInfo info;
  GstVideoFrame frame;
  Surface surface;
  if (gst_video_info_from_caps(&info, gst_sample_get_caps(converted)) &&
      gst_video_frame_map(&frame, &info, gst_sample_get_buffer(converted), GST_MAP_READ)) {
    surface.reset(cairo_image_surface_create(CAIRO_FORMAT_RGB24, info.width, info.height));
    cairo_surface_flush(surface.get());
    for (int y = 0; y < info.height; ++y)
      std::copy_n(
          static_cast<const guint8 *>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0)) +
              static_cast<std::ptrdiff_t>(y) * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0),
          std::size_t{4} * info.width,
          cairo_image_surface_get_data(surface.get()) +
              static_cast<std::ptrdiff_t>(y) * cairo_image_surface_get_stride(surface.get()));
    cairo_surface_mark_dirty(surface.get());
    gst_video_frame_unmap(&frame);
  }
  gst_sample_unref(converted);
  if (!surface) throw std::runtime_error("the frame cannot be read");
  return surface;
}

}  // namespace

void save_picture(const Player &player, GstElement *sink, const std::string &path) {
  const Surface frame = last_frame(sink);
  const double width = cairo_image_surface_get_width(frame.get());
  const double height = cairo_image_surface_get_height(frame.get());
  const double scale = std::min(1200 / width, 900 / height);

  std::vector<std::string> lines = wrapped(player.launch_line());
  if (!player.measured().words.empty()) lines.push_back(player.measured().words);
  const double total_width = 1200 + 2 * kMargin;
  const double total_height = height * scale + kPlots + lines.size() * kLine + 4 * kMargin;
  const Surface page(cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(total_width),
                                                static_cast<int>(total_height)));
  cairo_t *cairo = cairo_create(page.get());
  cairo_set_source_rgb(cairo, 0.92, 0.92, 0.93);
  cairo_paint(cairo);
  cairo_save(cairo);
  cairo_translate(cairo, (total_width - width * scale) / 2, kMargin);
  cairo_scale(cairo, scale, scale);
  cairo_set_source_surface(cairo, frame.get(), 0, 0);
  cairo_pattern_set_filter(cairo_get_source(cairo), CAIRO_FILTER_GOOD);
  cairo_paint(cairo);
  cairo_restore(cairo);
  double y = height * scale + 2 * kMargin;
  draw_plots(cairo, {kMargin, y, 1200, kPlots}, player.wipe().histogram(), player.measured(),
             player.times(), player.rate());
  y += kPlots + kMargin;
  cairo_set_source_rgb(cairo, 0.1, 0.1, 0.1);
  for (const std::string &line : lines) draw_text(cairo, kMargin, y += kLine, line, 12);
  cairo_destroy(cairo);
  const cairo_status_t status = cairo_surface_write_to_png(page.get(), path.c_str());
  if (status != CAIRO_STATUS_SUCCESS)
    throw std::runtime_error(path +
                             ": the picture cannot be written: " + cairo_status_to_string(status));
}

}  // namespace cudascan::view
