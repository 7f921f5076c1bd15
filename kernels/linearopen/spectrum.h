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
/// vertex, at most k steps away, is the dominant angle. k is as many steps as 0.75 degrees have or,
/// if that is less, the angle by which the ends of a segment move by 6 pixels against each other:
/// 0.37 degrees for a length of 930. It is at least 1 and no more than there are on either side. So
/// many, because a line of 3 pixels answers a segment of 250 within some 0.7 degrees, and because
/// neighbouring digital lines see other pixels, which makes the spectrum jitter; no more for longer
/// segments, because these answer in a narrow cusp on a slope that is not the same on both sides and
/// would draw a wider parabola away (docs/rotation.md). Digital lines prefer no angle in noise that
/// is independent from pixel to pixel, so nothing is corrected at 0, 45 and 90 degrees. The best
/// direction at an end of the span is not refined: the true one may lie beyond.
///
/// Confidence is contrast * steadiness * narrowness, all of them 0..1, and half of it at an end:
///
///     depth      = r(best) - median of r
///     contrast   = d / (d + 1/200), d = depth / (pixels * maximum)
///     steadiness = 1 - 16 * median |r(i - 1) - 2 r(i) + r(i + 1)| / depth
///     narrowness = 1 - 4 * width / extent
///
/// where width is how wide the peak is a quarter of its depth below its top and extent what the
/// directions cover. Contrast is a half where 1/200 of the image, at full contrast, is what makes
/// the difference. Steadiness finds noise and dust, whose spectrum goes up and down by as much as
/// its peak stands out. Narrowness tells lines from shades and textures, and from pages whose lines
/// are bent and have more than one angle: a spectrum that falls on both sides to the ends of the
/// span has width / extent 1/8, a page of text 1/20, one of curved lines 1/10. The constants are
/// from scans, photographs and empty pages.
///
/// Blank is a confidence below 0.2, which photographs do not reach. Where angles are to be exact
/// within 0.1 degrees, docs/rotation.md has the confidence that they need.
#pragma once
#include "kernels/linearopen.h"

namespace cudascan::linearopen {

/// Fills in dominant_angle, confidence and blank from angles and spectrum.
/// @param pixels   of the image
/// @param maximum  the largest sample of its format, in the units of the spectrum
CUDASCAN_API void analyse_spectrum(const LinearOpenParams &params, double pixels, double maximum,
                                   LinearOpenReport &report);

}  // namespace cudascan::linearopen
