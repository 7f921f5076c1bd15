// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Text on any surface of cairo.
#pragma once
#include <cairo.h>

#include <string>

namespace cudascan::view {

/// Draws text with its left, or right, end at x, and its base line at y.
void draw_text(cairo_t *cairo, double x, double y, const std::string &text, double size = 11,
               bool right = false, bool bold = false);

/// The width that draw_text() needs.
double text_width(cairo_t *cairo, const std::string &text, double size, bool bold = false);

}  // namespace cudascan::view
