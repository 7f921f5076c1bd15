// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Pages of low resolution are enlarged before anything else is done with them, so strokes are wide
/// enough for thresholds, and everything that is measured later is in pixels of the page that is
/// written. The page keeps its size in millimetres.
///
/// A pixel of the result lies at (x + 1/2) w / W - 1/2 of the page, where w and W are the widths,
/// and in the same way in its column. It is interpolated from the 4x4 pixels around that point,
/// with the cubic weights of R. G. Keys, "Cubic convolution interpolation for digital image
/// processing", IEEE Trans. Acoustics, Speech, and Signal Processing 29(6), 1981, a = -1/2: those
/// that rotate.h uses. The edges are repeated. Positions are rounded to 1/256 pixel and weights to
/// 2^-11; all numbers are integers, so results do not depend on the machine.
#pragma once
#include "image.h"

namespace cudascan::scan {

/// Pages below this resolution are enlarged to kUsualDpi. docs/scan.md says why.
inline constexpr double kLowDpi = 200;

/// By how much a page of this resolution is enlarged; 1 = it is not. The result has at most 32768
/// pixels a side and 2^28 pixels.
double enlargement(const Image &page);

/// @param from    8 or 16 bits
/// @param factor  1 or more
/// @param to      another image; it gets the content and, multiplied, the resolution
void enlarge(const Image &from, double factor, Image &to);

}  // namespace cudascan::scan
