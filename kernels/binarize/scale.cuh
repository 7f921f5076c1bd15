// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The image in quarter size, its polarity and its details.
#pragma once
#include "kernels/binarize/windows.cuh"

namespace cudascan::binarize {

/// Planes of quarter size: of 2x2 means of 4x4 pixels, the mean, the largest and the smallest.
struct QuarterPlanes {
  SmallPlane mean, top, low;
};

/// Queues making them, and the sums for the polarity if it is to be recognised.
/// @param part  of the quarter, where it is measured
template <typename T>
void queue_quarter(Cuda &, Plane<const T> in, const QuarterPlanes &, const Page &,
                   const Rectangle &part);

/// Queues counting the details of a part of the quarter.
/// @param paper  the closing of the coarse round
void queue_details(Cuda &, const QuarterPlanes &, SmallPlane paper, const Page &,
                   const Rectangle &part);

}  // namespace cudascan::binarize
