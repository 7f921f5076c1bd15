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
  /// Cleans a page of the image.
  /// @return the page: the image, or a half of it
  Image &clean(Image &image, Part part, const Steps &steps, Cleaner &cleaner, Image &clean,
             Findings &found);
  const Gutter &gutter() const { return gutter_; }

 private:
  Image half_;
  GutterFinder finder_;
  Gutter gutter_;
  Upright upright_;
  ResolutionFinder resolution_;
  Findings found_;  ///< the orientation and the resolution of the image
};

}  // namespace cudascan::scan
