// SPDX-License-Identifier: LGPL-2.1-or-later
#include "text.h"

namespace cudascan::view {

double text_width(cairo_t *cairo, const std::string &text, double size, bool bold) {
  cairo_select_font_face(cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                         bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(cairo, size);
  cairo_text_extents_t extents;
  cairo_text_extents(cairo, text.c_str(), &extents);
  return extents.x_advance;
}

void draw_text(cairo_t *cairo, double x, double y, const std::string &text, double size, bool right,
               bool bold) {
  const double width = text_width(cairo, text, size, bold);
  cairo_move_to(cairo, right ? x - width : x, y);
  cairo_show_text(cairo, text.c_str());
}

}  // namespace cudascan::view
