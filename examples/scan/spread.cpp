// SPDX-License-Identifier: LGPL-2.1-or-later
#include "spread.h"

#include "half.h"
#include "levels.h"

namespace cudascan::scan {

void Spread::turn(Image &image) {
  upright_.turn(image, found_);
  if (!image.colour || found_.orientation == 0) return;
  for (int i = 0; i < image.colour->samples; ++i)
    turn_by_quarters(image.colour->planes[i], found_.orientation, space_);
}

std::vector<Part> Spread::look(Image &image, Split split, const Steps &steps) {
  found_ = {};
  const bool empty = image.content == Content::white || image.content == Content::black;
  if (steps.upright && !empty) turn(image);
  if (image.resolution.x <= 0 || image.resolution.y <= 0)
    resolution_.settle(
        image, steps, [] {}, found_);
  gutter_ = {};
  gutter_.top = gutter_.bottom = image.width / 2.;
  if (empty)
    gutter_.why_not = "the image is empty";
  else
    gutter_ = finder_.find(image);
  const bool whole =
      (split == Split::automatic && gutter_.by == Gutter::By::nothing) || image.width < 2;
  if (whole) return {Part::whole};
  if (split == Split::right_left) return {Part::right, Part::left};
  return {Part::left, Part::right};
}

Image &Spread::page(Image &image, Part part) {
  if (part == Part::whole) return image;
  cut_half(image, gutter_, part, half_);
  if (image.colour) {
    if (!half_.colour) half_.colour = std::make_shared<PageLevels>(half_.memory.is_pinned());
    PageLevels &to = *half_.colour;
    to.samples = image.colour->samples;
    to.profile = image.colour->profile;
    to.wants_colour = image.colour->wants_colour;
    for (int i = 0; i < to.samples; ++i) {
      image.colour->planes[i].resolution = image.resolution;
      cut_half(image.colour->planes[i], gutter_, part, to.planes[i]);
    }
  }
  return half_;
}

void Spread::add_to(Part part, Findings &found) const {
  if (part == Part::whole) {
    found.orientation_confidence = found_.orientation_confidence;
    found.not_upright = found_.not_upright;
  }
  found.orientation = (found.orientation + found_.orientation) % 360;
  if (!found_.resolution_from.empty()) found.resolution_from = found_.resolution_from;
}

}  // namespace cudascan::scan
