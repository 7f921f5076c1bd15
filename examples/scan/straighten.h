// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// How far a page is turned, by linearopen on a reduced copy: the recipes of docs/rotation.md for text
/// (an opening by long segments, which answers in the gaps between lines) and for rules and staves (a
/// closing), made cheap.
///
/// Text is to be averaged along its lines anyway. So the copy is not scaled back to its proportions: it
/// has all rows of a page 1000 to 1700 pixels wide, but only a quarter of the columns. A line at angle t
/// lies there at the angle s with tan s = 4 tan t, and directions are chosen so. That is a quarter of the
/// work at the same vertical resolution. Directions in steps of 0.25 degrees over 20 degrees find the
/// peak and the confidence; steps of 0.1 around the peak find the angle.
#pragma once
#include <functional>

#include "image.h"
#include "kernels/linearopen.h"

namespace cudascan::scan {

struct Skew {
  double angle = 0;       ///< degrees counter-clockwise, -10..10
  double confidence = 0;  ///< 0..1; 0 for pages too small to tell
  bool trusted = false;   ///< confidence is high enough
};

/// How much a page shrinks on its way to the copy.
struct SkewScale {
  explicit SkewScale(const Image &page);
  int by = 1;           ///< rows
  int squeeze = 1;      ///< columns shrink by so much more
  bool enough = false;  ///< whether the page is large enough to be measured at all
};

/// Runs linearopen on the reduced copy and returns what it measured.
using Measure = std::function<LinearOpenReport(const LinearOpenParams &)>;

/// @param width, height   of the copy
/// @param min_confidence  from which an angle is trusted; 0 = 0.45 for text, 0.4 for rules
Skew measure_skew(const SkewScale &scale, int width, int height, double min_confidence,
                  const Measure &measure);

}  // namespace cudascan::scan
