// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Measures how far a page is rotated on a reduced copy, from sums along slanted lines (profile.h).
///
/// Text is averaged along its lines anyway. So the copy does not keep the proportions: it has all
/// rows of a page 1000 to 1700 pixels wide, but only a quarter of the columns. Angles in steps of
/// 0.2 degrees over 22 degrees find the peak and the confidence; steps of 0.05 around the peak find
/// the angle.
///
/// Angle. It is the vertex of a parabola through the fine steps around the largest sum of four
/// strengths, each relative to its largest: of lines across the page, and of lines across halves,
/// quarters and eighths of it. Columns whose lines are not at the same height would draw the first
/// one away. The steps are 0.2 degrees to either side or, if that is more, 0.35 times the width of
/// the peak: few lines of large letters have wide peaks with several tops.
///
/// Confidence is strength * narrowness * agreement, all of them 0..1, and 0 at the ends of the
/// range:
///
///     strength   = (r - 1) / (r + 2), r = largest / median strength of the angles, each without
///                  its two strongest lines. Pages have many lines; the edges of a sheet or of a
///                  picture are few.
///     narrowness = 2.6 - width of the peak at half its height in degrees: curved lines, bricks and
///                  other textures have wide peaks
///     agreement  = 1 / (1 + (a / 0.3)^4) / (1 + (b / 0.9)^4), where a is by how many degrees the
///                  peaks with and without the two strongest lines differ, and b by how many those
///                  of the left and the right half or of the upper and the lower half differ, if
///                  both halves have lines: on curved pages they do.
///
/// docs/scan.md says how the constants were chosen and what they achieve.
#pragma once
#include "image.h"
#include "lines.h"
#include "steps.h"

namespace cudascan::scan {

struct Skew {
  double angle = 0;       ///< degrees counter-clockwise, -11..11
  double confidence = 0;  ///< 0..1
  double lines = 0;       ///< r of the formula above
};

/// Least confidence to trust an angle if nothing else is asked for.
constexpr double kTrusted = 0.5;

/// How much smaller the copy is than the page.
struct SkewScale {
  SkewScale(int page_width, int page_height);
  int by = 1;           ///< rows
  int squeeze = 1;      ///< additional factor for columns
  bool enough = false;  ///< whether the page is large enough to be measured
};

/// @param copy   the page, reduced as `scale` says, 8 bits
/// @param lines  measures it; without, the CPU does
Skew measure_skew(const SkewScale &scale, const Image &copy, LineMeter &lines);
Skew measure_skew(const SkewScale &scale, const Image &copy);

/// Measures a page and decides whether it is turned: sets angle, confidence, turned and not_turned.
/// @param copy  of the page as for measure_skew(); not used if the page is too small
void measure_angle(const Image &page, const SkewScale &scale, const Image &copy, LineMeter &lines,
                   const Steps &steps, Findings &found);

}  // namespace cudascan::scan
