// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What the angular spectrum of an image (LinearOpenReport) says about its direction.
///
/// An opening answers where its sum is large; a closing, a top-hat and a black-hat answer where it
/// is small. Below, r is the spectrum with the sign that makes answers large, step the degrees from
/// one direction to the next, and "best" the direction with the largest r, the middle of the first
/// run of equal ones. A span of 180 degrees is a circle, any other has two ends.
///
/// Angle. A parabola by least squares through the 2 k + 1 directions around the best one; its
/// vertex, at most k steps away, is the dominant angle. k is as many steps as 0.75 degrees have,
/// but at least 1 and no more than there are on either side. So many, because a line of 3 pixels
/// answers a segment of 250 within some 0.7 degrees, and because neighbouring digital lines see
/// other pixels, which makes the spectrum jitter: on ruled pages the median error is 0.02 degrees,
/// 0.06 with three points alone (docs/rotation.md). Digital lines prefer no angle in noise that is
/// independent from pixel to pixel, so nothing is corrected at 0, 45 and 90 degrees. The best
/// direction at an end of the span is not refined: the true one may lie beyond.
///
/// Confidence is contrast * steadiness * narrowness, all of them 0..1, and half of it at an end:
///
///     depth      = r(best) - median of r
///     contrast   = d / (d + 1/200), d = depth / (pixels * maximum)
///     steadiness = 1 - 4 * median |r(i - 1) - 2 r(i) + r(i + 1)| / depth
///     narrowness = 1 - 3 * width / extent
///
/// where width is how wide the peak is at half its depth and extent what the directions cover.
/// Contrast is a half where 1/200 of the image, at full contrast, is what makes the difference.
/// Steadiness finds noise, whose spectrum goes up and down by as much as its peak stands out.
/// Narrowness tells lines from shades and textures: a spectrum that falls on both sides to the ends
/// of the span has width / extent 1/4, a sheet of music 1/20. The constants are from scans,
/// photographs and empty pages.
///
/// Blank is a confidence below 0.2: photographs reach 0.2, directions above it were right within
/// half a degree on nine of ten pages.
#pragma once
#include "kernels/linearopen.h"

namespace cudascan::linearopen {

/// Fills in dominant_angle, confidence and blank from angles and spectrum.
/// @param pixels   of the image
/// @param maximum  the largest sample of its format, in the units of the spectrum
CUDASCAN_API void analyse_spectrum(const LinearOpenParams &params, double pixels, double maximum,
                                   LinearOpenReport &report);

}  // namespace cudascan::linearopen
