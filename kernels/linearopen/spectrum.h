// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Finds the direction of an image from its angular spectrum (LinearOpenReport).
///
/// The response of an opening is large where its sum is large; that of a closing, a top-hat and a
/// black-hat where the sum is small. Below, r is the spectrum with the sign that makes responses
/// large, step is the angle between directions, and "best" is the direction with the largest r, or
/// the middle of the first run of equal ones. A span of 180 degrees is a circle; any other span has
/// two ends.
///
/// Angle. The dominant angle is the vertex, at most k steps away, of a least-squares parabola
/// through the 2 k + 1 directions around the best one. k steps cover 0.75 degrees or, if that is
/// less, the angle by which the ends of a segment move by 6 pixels relative to each other: 0.37
/// degrees for a length of 930. k is at least 1 and at most the number of directions on either
/// side. Several directions are needed because a line of 3 pixels responds to a segment of 250
/// within about 0.7 degrees, and because neighbouring digital lines contain different pixels, which
/// makes the spectrum jitter. Longer segments need fewer, because their response is a narrow cusp
/// on an asymmetric slope, which would shift a wider parabola (docs/rotation.md). Digital lines
/// prefer no angle in pixel-independent noise, so there is no correction at 0, 45 and 90 degrees. A
/// best direction at an end of the span is not refined, because the true one may be beyond the end.
///
/// Confidence is contrast * steadiness * narrowness, all of them 0..1, and half of it at an end:
///
///     depth      = r(best) - median of r
///     contrast   = d / (d + 1/200), d = depth / (pixels * maximum)
///     steadiness = 1 - 16 * median |r(i - 1) - 2 r(i) + r(i + 1)| / depth
///     narrowness = 1 - 4 * width / extent
///
/// where width is the width of the peak at a quarter of its depth below the top, and extent is the
/// range of the directions. Contrast is 1/2 if 1/200 of the image, at full contrast, makes the
/// difference. Steadiness detects noise and dust: their spectrum jitters as much as its peak stands
/// out. Narrowness tells lines from shades and textures, and from pages with bent lines, which have
/// more than one angle. width / extent is 1/8 for a spectrum that falls to the ends of the span on
/// both sides, 1/20 for a page of text and 1/10 for a page of curved lines. The constants were
/// measured on scans, photographs and empty pages.
///
/// Blank means a confidence below 0.2, which photographs do not reach. docs/rotation.md has the
/// confidence needed for angles that are exact to 0.1 degrees.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/linearopen.h"
#include "kernels/linearopen/samples.h"

namespace cudascan::linearopen {

/// Turns sums of openings into those of results. A closing is an opening of complements.
/// @param flipped  whether the openings are of complements
/// @param all      the sum of an image whose samples are all the largest
/// @param input    the sum of the input; 0 unless the result is a difference
inline void restore_sums(std::vector<std::int64_t> &sums, LinearOpenOperation operation,
                         bool flipped, std::int64_t all, std::int64_t input) {
  const bool difference = is_difference(operation);
  for (std::int64_t &sum : sums) {
    if (flipped) sum = all - sum;
    if (difference) sum = flipped ? sum - input : input - sum;
  }
}

/// Fills in dominant_angle, confidence and blank from angles and spectrum.
/// @param pixels   of the image
/// @param maximum  the largest sample of its format, in the units of the spectrum
CUDASCAN_API void analyse_spectrum(const LinearOpenParams &params, double pixels, double maximum,
                                   LinearOpenReport &report);

}  // namespace cudascan::linearopen
