// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The viewer's plots, on any surface of cairo.
#pragma once
#include <cairo.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "wipe.h"

namespace cudascan::view {

/// The drawn parts of an element's last report.
struct Measured {
  std::vector<double> thresholds;  ///< levels of 8 bits
  std::vector<double> angles;      ///< degrees
  std::vector<double> spectrum;    ///< the response of each angle
  double dominant_angle = 0, confidence = 0;
  bool blank = true;
  std::string words;  ///< the report in a line
};

struct Rectangle {
  double x, y, width, height;
};

/// Histogram of 256 levels with thresholds as vertical lines.
void draw_histogram(cairo_t *cairo, const Rectangle &where,
                    const std::array<std::uint32_t, 256> &levels,
                    const std::vector<double> &thresholds);
/// Response over angle, with the dominant angle; a note if nothing has been measured.
void draw_spectrum(cairo_t *cairo, const Rectangle &where, const Measured &measured);
/// Time of each frame in the element, from frame to frame and, for live sources, from the sensor to
/// its result, and when the result is shown; `rate` is the source's frames a
/// second, or 0 if unknown.
void draw_frame_times(cairo_t *cairo, const Rectangle &where, const FrameTimes &times, double rate);
/// All three plots, side by side.
void draw_plots(cairo_t *cairo, const Rectangle &where,
                const std::array<std::uint32_t, 256> &levels, const Measured &measured,
                const FrameTimes &times, double rate);

/// The value below which `percent` of the numbers lie; 0 if there are none.
double percentile(std::vector<double> numbers, double percent);

/// Text with its left, or right, end at x, and its base line at y.
void draw_text(cairo_t *cairo, double x, double y, const std::string &text, double size = 11,
               bool right = false, bool bold = false);

}  // namespace cudascan::view
