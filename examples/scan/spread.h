// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// An image before it becomes pages: it is turned upright if that is asked for, its resolution is
/// known, and its gutter is found.
#pragma once
#include <vector>

#include "gutter.h"
#include "orientation.h"
#include "resolution.h"
#include "split.h"
#include "steps.h"

namespace cudascan::scan {

/// What was found of an image that may be an open book, for each of its pages.
struct SplitNote {
  Part part = Part::whole;
  Gutter gutter;
};

/// It keeps its memory for the next image.
class Spread {
 public:
  explicit Spread(bool pinned) : half_(pinned) {}

  /// Turns the image upright, finds its resolution if it states none, and decides which pages it
  /// has.
  std::vector<Part> look(Image &image, Split split, const Steps &steps);
  /// A page of the image, also in colour: the image itself, which is upright, or a half of it.
  Image &page(Image &image, Part part);
  /// Adds what was found of the image to what was found of a page of it.
  void add_to(Part part, Findings &found) const;
  const Gutter &gutter() const { return gutter_; }

 private:
  void turn(Image &image);

  Image half_, space_;
  GutterFinder finder_;
  Gutter gutter_;
  Upright upright_;
  ResolutionFinder resolution_;
  Findings found_;  ///< the orientation and the resolution of the image
};

}  // namespace cudascan::scan
