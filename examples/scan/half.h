// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Cuts an open book at its gutter.
///
/// What remains of the neighbour page becomes paper, and so does the shadow of the fold: within 20
/// mm of the gutter, the level of the paper is measured at each distance (the level that three
/// tenths of the pixels reach, in 12 parts from top to bottom), and levels are divided by it.
/// Distances darker than 0.4 of the paper become paper, and so does what is still dark at the cut,
/// up to 4 mm deep. Where a part differs from the median of the parts by a quarter, as in a
/// picture, the median counts.
#pragma once
#include "image.h"
#include "split.h"

namespace cudascan::scan {

/// @param image  with a resolution
/// @param part   left or right
void cut_half(const Image &image, const Gutter &gutter, Part part, Image &half);

}  // namespace cudascan::scan
