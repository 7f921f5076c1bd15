// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Measures how far a page is rotated with linearopen on a reduced copy. These are cheaper versions
/// of the recipes of docs/rotation.md for text (an opening by long segments, which responds in the
/// gaps between lines) and for rules and staves (a closing).
///
/// Text is averaged along its lines anyway. So the copy does not keep the proportions: it has all
/// rows of a page 1000 to 1700 pixels wide, but only a quarter of the columns. A line at angle t
/// has the angle s in the copy, with tan s = 4 tan t, and the directions are chosen accordingly.
/// That is a quarter of the work at the same vertical resolution. Directions in steps of 0.25
/// degrees over 20 degrees find the peak and the confidence; steps of 0.1 around the peak find the
/// angle.
#pragma once
#include <functional>

#include "image.h"
#include "kernels/linearopen.h"

namespace cudascan::scan {

struct Skew {
  double angle = 0;       ///< degrees counter-clockwise, -10..10
  double confidence = 0;  ///< 0..1; 0 for pages that are too small
  bool trusted = false;   ///< confidence is high enough
};

/// How much smaller the copy is than the page.
struct SkewScale {
  explicit SkewScale(const Image &page);
  int by = 1;           ///< rows
  int squeeze = 1;      ///< additional factor for columns
  bool enough = false;  ///< whether the page is large enough to be measured
};

/// Runs linearopen on the reduced copy and returns what it measured.
using Measure = std::function<LinearOpenReport(const LinearOpenParams &)>;

/// @param width, height   of the copy
/// @param min_confidence  least confidence to trust an angle; 0 = 0.45 for text, 0.4 for rules
Skew measure_skew(const SkewScale &scale, int width, int height, double min_confidence,
                  const Measure &measure);

}  // namespace cudascan::scan
