// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Windows that are polygons. They have the cells whose centres are in the polygon.
#pragma once
#include "common/api.h"
#include "kernels/base/mask.h"

namespace cudascan::swo {

/// The window without its corners, which are cut off at 45 degrees as those of the regular octagon
/// in a square as large as the shorter side n. So |x| + |y| <= S + |width - height| / 2, where S is
/// the largest whole number with 2 S^2 <= n^2.
///
/// An octagon is the Minkowski sum of four segments: a level one, an upright one, and two diagonal
/// ones of n - S cells (Karas et al., section 7). Openings by larger and larger squares of octagons
/// are a granulometry: each octagon is a union of smaller ones.
CUDASCAN_API Mask make_octagon(int width, int height);

/// The hexagon with level sides that touches the middles of all four sides of the window. Two of
/// its corners are in the middles of the left and the right side, and the level sides are half as
/// long as the window is wide. So 2 |x| height + |y| width <= width height.
///
/// In squares of 3, 7, 11 ... cells it is the Minkowski sum of a level segment of (n + 3) / 2 cells
/// and two steep ones of (n + 1) / 2 rows, with a step to the side in every second row.
CUDASCAN_API Mask make_hexagon(int width, int height);

}  // namespace cudascan::swo
