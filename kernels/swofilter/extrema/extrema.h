// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Extrema of windows, and morphology with windows as structuring elements.
///
/// | operator    | result                                                                        |
/// |-------------|-------------------------------------------------------------------------------|
/// | min, erode  | smallest sample of the window                                                 |
/// | max, dilate | largest sample of the window (which is not reflected, as in OpenCV's dilate)  |
/// | midpoint    | (smallest + largest + 1) / 2 in levels, rounded down                          |
/// | open        | erosion by the window, then dilation by the reflected window                  |
/// | close       | dilation by the window, then erosion by the reflected window                  |
/// | gradient    | max - min                                                                     |
/// | top-hat     | in - open, at least 0                                                         |
/// | black-hat   | close - in, at least 0                                                        |
///
/// If the window has no sample, midpoint is the sample itself and gradient is 0.
///
/// Both steps of open and close apply the border. With clip, an opening is never above its input
/// and opening twice equals opening once, also at the edges of the image; with constant neither
/// holds near the edges.
#pragma once
#include "kernels/swofilter/window.h"

namespace cudascan::swo {

/// min, max, midpoint, erode, dilate, open, close, gradient, top-hat and black-hat.
template <typename T>
void extrema(Cpu &, Plane<const T> in, Plane<T> out, const FilterJob &);
template <typename T>
void extrema(Cuda &, Plane<const T> in, Plane<T> out, const FilterJob &);

}  // namespace cudascan::swo
