// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plots.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>

#include "text.h"

namespace cudascan::view {
namespace {

constexpr double kLeastWidth = 230;  // of a plot

struct Colour {
  double r, g, b;
};
constexpr Colour kPaper{0.98, 0.98, 0.98}, kInk{0.2, 0.2, 0.22}, kGrid{0.85, 0.85, 0.87},
    kBars{0.35, 0.45, 0.6}, kMark{0.85, 0.25, 0.1}, kSecond{0.2, 0.6, 0.35}, kThird{0.5, 0.3, 0.7};

void set_colour(cairo_t *cairo, const Colour &c) {
  cairo_set_source_rgb(cairo, c.r, c.g, c.b);
}

std::string format(const char *pattern, double a, double b = 0, double c = 0) {
  char text[160];
  std::snprintf(text, sizeof text, pattern, a, b, c);
  return text;
}

/// Draws the panel and its title and returns where the plot itself goes.
Rectangle panel(cairo_t *cairo, const Rectangle &where, const std::string &title,
                const std::string &note) {
  set_colour(cairo, kPaper);
  cairo_rectangle(cairo, where.x, where.y, where.width, where.height);
  cairo_fill(cairo);
  set_colour(cairo, kInk);
  draw_text(cairo, where.x + 10, where.y + 17, title, 11, false, true);
  const double room = where.width - 30 - text_width(cairo, title, 11, true);
  if (text_width(cairo, note, 11) <= room)
    draw_text(cairo, where.x + where.width - 10, where.y + 17, note, 11, true);
  const Rectangle plot{where.x + 38, where.y + 28, where.width - 50, where.height - 50};
  cairo_set_line_width(cairo, 1);
  set_colour(cairo, kGrid);
  for (int i = 0; i <= 2; ++i) {
    const double y = std::round(plot.y + plot.height * i / 2) + 0.5;
    cairo_move_to(cairo, plot.x, y);
    cairo_line_to(cairo, plot.x + plot.width, y);
  }
  cairo_stroke(cairo);
  return plot;
}

void label_x(cairo_t *cairo, const Rectangle &plot, const std::string &left,
             const std::string &right) {
  set_colour(cairo, kInk);
  draw_text(cairo, plot.x, plot.y + plot.height + 15, left, 10);
  draw_text(cairo, plot.x + plot.width, plot.y + plot.height + 15, right, 10, true);
}

void label_y(cairo_t *cairo, const Rectangle &plot, const std::string &top,
             const std::string &bottom) {
  set_colour(cairo, kInk);
  draw_text(cairo, plot.x - 5, plot.y + 5, top, 10, true);
  draw_text(cairo, plot.x - 5, plot.y + plot.height + 3, bottom, 10, true);
}

void draw_line(cairo_t *cairo, const Rectangle &plot, const std::vector<double> &values, double top,
               const Colour &colour) {
  if (values.size() < 2 || !(top > 0)) return;
  for (std::size_t i = 0; i < values.size(); ++i)
    cairo_line_to(cairo, plot.x + plot.width * i / (values.size() - 1.0),
                  plot.y + plot.height * (1 - std::clamp(values[i] / top, 0.0, 1.0)));
  set_colour(cairo, colour);
  cairo_set_line_width(cairo, 1.4);
  cairo_stroke(cairo);
}

}  // namespace

double percentile(std::vector<double> numbers, double percent) {
  if (numbers.empty()) return 0;
  const auto at = static_cast<std::size_t>(std::lround(percent / 100 * (numbers.size() - 1.0)));
  std::nth_element(numbers.begin(), numbers.begin() + at, numbers.end());
  return numbers[at];
}

void draw_histogram(cairo_t *cairo, const Rectangle &where,
                    const std::array<std::uint32_t, 256> &levels,
                    const std::vector<double> &thresholds) {
  std::string note = thresholds.empty() ? "" : "threshold";
  for (const double t : thresholds) note += format(" %g", std::round(t * 100) / 100);
  const Rectangle plot = panel(cairo, where, "Input histogram", note);
  // Paper makes one bar tower above all others; with square roots, the ink shows, too.
  double top = 1;
  for (const auto count : levels) top = std::max(top, std::sqrt(double(count)));
  set_colour(cairo, kBars);
  const double width = plot.width / 256;
  for (int level = 0; level < 256; ++level) {
    const double height = plot.height * std::sqrt(double(levels[level])) / top;
    cairo_rectangle(cairo, plot.x + level * width, plot.y + plot.height - height, width + 0.3,
                    height);
  }
  cairo_fill(cairo);
  set_colour(cairo, kMark);
  cairo_set_line_width(cairo, 1.6);
  for (const double t : thresholds) {
    const double x = plot.x + (t + 0.5) * width;
    cairo_move_to(cairo, x, plot.y);
    cairo_line_to(cairo, x, plot.y + plot.height);
  }
  cairo_stroke(cairo);
  label_x(cairo, plot, "black", "white");
}

void draw_spectrum(cairo_t *cairo, const Rectangle &where, const Measured &m) {
  const bool has = m.angles.size() > 1 && m.angles.size() == m.spectrum.size();
  const std::string note =
      !has || m.blank ? ""
                      : format("%.2f\xc2\xb0, confidence %.2f", m.dominant_angle, m.confidence);
  const Rectangle plot = panel(cairo, where, "Response over angle", note);
  if (!has) return;
  const auto [least, most] = std::minmax_element(m.spectrum.begin(), m.spectrum.end());
  const double range = std::max(*most - *least, 1.0);
  std::vector<double> heights;
  for (const double s : m.spectrum) heights.push_back((s - *least) / range);
  draw_line(cairo, plot, heights, 1, kBars);
  const double first = m.angles.front(), last = m.angles.back();
  if (!m.blank && last != first) {
    const double x =
        plot.x + plot.width * std::clamp((m.dominant_angle - first) / (last - first), 0.0, 1.0);
    set_colour(cairo, kMark);
    cairo_set_line_width(cairo, 1.6);
    cairo_move_to(cairo, x, plot.y);
    cairo_line_to(cairo, x, plot.y + plot.height);
    cairo_stroke(cairo);
  }
  label_x(cairo, plot, format("%g\xc2\xb0", first), format("%g\xc2\xb0", last));
}

void draw_frame_times(cairo_t *cairo, const Rectangle &where, const FrameTimes &times,
                      double rate) {
  const double mean_interval = percentile(times.interval_ms, 50);
  const std::string note = mean_interval > 0 ? format("%.1f frames/s", 1000 / mean_interval) : "";
  const Rectangle plot = panel(cairo, where, "Frame times", note);
  double top = rate > 0 ? 1500 / rate : 0;
  for (const auto *ms : {&times.interval_ms, &times.element_ms, &times.latency_ms})
    top = std::max({top, 1.2 * percentile(*ms, 98), 1.0});
  draw_line(cairo, plot, times.interval_ms, top, kBars);
  draw_line(cairo, plot, times.element_ms, top, kSecond);
  draw_line(cairo, plot, times.latency_ms, top, kThird);
  if (!times.latency_ms.empty()) {
    const double middle = percentile(times.latency_ms, 50);
    set_colour(cairo, kThird);
    const std::string latency = format("sensor to result %.2f ms", middle);
    const std::string more = format(", 99 %% %.2f", percentile(times.latency_ms, 99)) +
                             format(", shown after %.0f", std::max(middle, times.reported_ms));
    const bool fits = text_width(cairo, latency + more, 10) < plot.width - 8;
    draw_text(cairo, plot.x + 4, plot.y + 11, fits ? latency + more : latency, 10);
  }
  label_y(cairo, plot, format("%.0f", top), "ms");
  set_colour(cairo, kSecond);
  const std::string element = format("element %.2f ms", percentile(times.element_ms, 50));
  const std::string worst = format(", 99 %% %.2f", percentile(times.element_ms, 99));
  const std::uint64_t lost = times.in > times.out + 4 ? times.in - times.out : 0;
  const std::string dropped = format("%.0f dropped", double(lost));
  const double room = plot.width - 12 - text_width(cairo, dropped, 10);
  const bool fits = text_width(cairo, element + worst, 10) < room;
  draw_text(cairo, plot.x, plot.y + plot.height + 15, fits ? element + worst : element, 10);
  set_colour(cairo, lost ? kMark : kInk);
  draw_text(cairo, plot.x + plot.width, plot.y + plot.height + 15, dropped, 10, true);
}

void draw_plots(cairo_t *cairo, const Rectangle &where,
                const std::array<std::uint32_t, 256> &levels, const std::vector<Measured> &measured,
                const FrameTimes &times, double rate, unsigned first) {
  std::vector<double> thresholds;
  const Measured *spectrum = nullptr;
  for (const Measured &m : measured) {
    // The histogram is that of the input, so only the first element's thresholds are levels of it.
    if (&m == measured.data()) thresholds = m.thresholds;
    if (m.angles.size() > 1) spectrum = &m;
  }
  std::vector<std::function<void(const Rectangle &)>> plots{
      [&](const Rectangle &r) { draw_histogram(cairo, r, levels, thresholds); },
      [&](const Rectangle &r) { draw_frame_times(cairo, r, times, rate); }};
  if (spectrum)
    plots.insert(plots.begin() + 1,
                 [&](const Rectangle &r) { draw_spectrum(cairo, r, *spectrum); });
  const double gap = 6;
  const auto n = std::clamp<std::size_t>(
      static_cast<std::size_t>((where.width + gap) / (kLeastWidth + gap)), 1, plots.size());
  const double width = (where.width - (n - 1.0) * gap) / n;
  for (std::size_t i = 0; i < n; ++i)
    plots[(first + i) % plots.size()]({where.x + i * (width + gap), where.y, width, where.height});
}

}  // namespace cudascan::view
