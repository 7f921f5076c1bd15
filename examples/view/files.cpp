// SPDX-License-Identifier: LGPL-2.1-or-later
#include "files.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <vector>

#include "painter.h"
#include "plots.h"
#include "text.h"

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

std::shared_ptr<const Frame> frame_of(const Player &player) {
  std::shared_ptr<const Frame> frame = player.frame();
  if (!frame) throw std::runtime_error("no frame has arrived");
  return frame;
}

void write(const Surface &surface, const std::string &path) {
  const cairo_status_t status = cairo_surface_write_to_png(surface.get(), path.c_str());
  if (status != CAIRO_STATUS_SUCCESS)
    throw std::runtime_error(path +
                             ": the picture cannot be written: " + cairo_status_to_string(status));
}

}  // namespace

void save_view(const Player &player, double divider, const std::string &path) {
  const std::shared_ptr<const Frame> frame = frame_of(player);
  const double frame_width = frame->width() * frame->pixel_aspect();
  const double scale = std::min(1200 / frame_width, 900.0 / frame->height());
  const double width = frame_width * scale, height = frame->height() * scale;

  std::vector<std::string> lines = wrapped(player.launch_line());
  for (const Measured &measured : player.measured())
    if (!measured.words.empty()) lines.push_back(measured.words);
  const double total_width = 1200 + 2 * kMargin;
  const double total_height = height + kPlots + lines.size() * kLine + 4 * kMargin;
  const Surface page(cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(total_width),
                                                static_cast<int>(total_height)));
  cairo_t *cairo = cairo_create(page.get());
  cairo_set_source_rgb(cairo, 0.92, 0.92, 0.93);
  cairo_paint(cairo);
  cairo_save(cairo);
  cairo_translate(cairo, (total_width - width) / 2, kMargin);
  Painter().paint(cairo, *frame, {0, 0, scale}, divider, static_cast<int>(std::ceil(width)),
                  static_cast<int>(std::ceil(height)));
  cairo_restore(cairo);
  double y = height + 2 * kMargin;
  draw_plots(cairo, {kMargin, y, 1200, kPlots}, player.histogram(), player.measured(),
             player.times(), player.rate());
  y += kPlots + kMargin;
  cairo_set_source_rgb(cairo, 0.1, 0.1, 0.1);
  for (const std::string &line : lines) draw_text(cairo, kMargin, y += kLine, line, 12);
  cairo_destroy(cairo);
  write(page, path);
}

void save_result(const Player &player, const std::string &path) {
  const std::shared_ptr<const Frame> frame = frame_of(player);
  GstCaps *from = gst_video_info_to_caps(&frame->info());
  GstCaps *to = gst_caps_new_empty_simple("image/png");
  GstSample *sample = gst_sample_new(frame->after(), from, nullptr, nullptr);
  g_autoptr(GError) error = nullptr;
  GstSample *png = gst_video_convert_sample(sample, to, 10 * GST_SECOND, &error);
  gst_sample_unref(sample);
  gst_caps_unref(from);
  gst_caps_unref(to);
  if (!png) throw std::runtime_error(path + ": " + (error ? error->message : "no PNG encoder"));
  GstMapInfo map;
  gboolean written = FALSE;
  g_autoptr(GError) why = nullptr;
  if (gst_buffer_map(gst_sample_get_buffer(png), &map, GST_MAP_READ)) {
    written = g_file_set_contents(path.c_str(), reinterpret_cast<const gchar *>(map.data),
                                  static_cast<gssize>(map.size), &why);
    gst_buffer_unmap(gst_sample_get_buffer(png), &map);
  }
  gst_sample_unref(png);
  if (!written)
    throw std::runtime_error(why ? why->message : path + ": the picture cannot be written");
}

void save(const Player &player, const std::string &path) {
  if (is_chain_file(path))
    write_chain(path, player.chain(), player.launch_line());
  else
    save_result(player, path);
}

void open(Player &player, const std::string &path) {
  if (is_chain_file(path))
    player.use(read_chain(path));
  else
    player.open(file_source(path));
}

}  // namespace cudascan::view
