// SPDX-License-Identifier: LGPL-2.1-or-later
#include "spread.h"

#include "half.h"

namespace cudascan::scan {

std::vector<Part> Spread::look(Image &image, Split split, const Steps &steps) {
  found_ = {};
  const bool empty = image.content == Content::white || image.content == Content::black;
  if (steps.upright && !empty) upright_.turn(image, found_);
  if (image.resolution.x <= 0 || image.resolution.y <= 0) resolution_.settle(image, steps, found_);
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

Image &Spread::clean(Image &image, Part part, const Steps &steps, Cleaner &cleaner, Image &clean,
                     Findings &found) {
  Image *page = &image;
  if (part == Part::whole) {
    Steps rest = steps;
    rest.upright = false;
    found.orientation_confidence = found_.orientation_confidence;
    found.not_upright = found_.not_upright;
    cleaner.clean(image, rest, clean, found);
  } else {
    cut_half(image, gutter_, part, half_);
    cleaner.clean(half_, steps, clean, found);
    page = &half_;
  }
  found.orientation = (found.orientation + found_.orientation) % 360;
  if (!found_.resolution_from.empty()) found.resolution_from = found_.resolution_from;
  return *page;
}

}  // namespace cudascan::scan
