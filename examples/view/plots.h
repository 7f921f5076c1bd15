// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The viewer's plots, on any surface of cairo.
#pragma once
#include <cairo.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "measured.h"
#include "pairs.h"

namespace cudascan::view {

struct Rectangle {
  double x, y, width, height;
};

/// Histogram of 256 levels with thresholds as vertical lines.
void draw_histogram(cairo_t *cairo, const Rectangle &where,
                    const std::array<std::uint32_t, 256> &levels,
                    const std::vector<double> &thresholds);
/// Response over angle, with the dominant angle.
void draw_spectrum(cairo_t *cairo, const Rectangle &where, const Measured &measured);
/// Time of each frame in the element, from frame to frame and, for live sources, from the sensor to
/// its result, and when the result is shown; `rate` is the source's frames a
/// second, or 0 if unknown.
void draw_frame_times(cairo_t *cairo, const Rectangle &where, const FrameTimes &times, double rate);
/// The plots that fit next to each other; without a spectrum if none has been measured.
/// @param first  which one is on the left; the others follow in order
void draw_plots(cairo_t *cairo, const Rectangle &where,
                const std::array<std::uint32_t, 256> &levels, const std::vector<Measured> &measured,
                const FrameTimes &times, double rate, unsigned first = 0);

/// The value below which `percent` of the numbers lie; 0 if there are none.
double percentile(std::vector<double> numbers, double percent);

}  // namespace cudascan::view
