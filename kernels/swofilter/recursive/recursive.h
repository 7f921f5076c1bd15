// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Recursive erosion and dilation: each pixel, row by row from the upper left, is replaced in place
/// by the smallest (largest) sample of the window. So the window has results above and to the left
/// of the pixel, and samples of the input elsewhere (Yang et al., Table 6). Samples outside the
/// image do not change: none with clip, one value with constant; other borders are refused.
#pragma once
#include "kernels/swofilter/window.h"

namespace cudascan::swo {

/// recursive-erode and recursive-dilate.
template <typename T>
void recursive(Cpu &, Plane<const T> in, Plane<T> out, const FilterJob &);
template <typename T>
void recursive(Cuda &, Plane<const T> in, Plane<T> out, const FilterJob &);

}  // namespace cudascan::swo
