// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The image in quarter size, and its polarity.
#pragma once
#include "kernels/binarize/windows.cuh"

namespace cudascan::binarize {

/// The quarter: of 2x2 means of 4x4 pixels, the mean, the largest and the smallest.
struct QuarterPlanes {
  SmallPlane mean, top, low;
  SmallPlane sixteenth_high, sixteenth_low;  ///< extrema of 4x4 means, or without data
};

/// Queues making them, and the sums for the polarity if it is to be recognised.
/// @param part  of the quarter, where it is measured
template <typename T>
void queue_quarter(Cuda &, Plane<const T> in, const QuarterPlanes &, const Page &,
                   const Rectangle &part);

}  // namespace cudascan::binarize
