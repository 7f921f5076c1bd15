// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Small closings of the quarter on the GPU.
#pragma once
#include "kernels/binarize/scale.cuh"

namespace cudascan::binarize {

/// The largest window of small closings.
inline constexpr int kMostSmallClosing = 15;

struct SmallClosing {
  QuarterPlanes quarter;
  SmallPlane paper;    ///< result
  SmallPlane details;  ///< result: distances of a closing by kDetailClosing to the smallest; or
                       ///< without data
  const int *size;     ///< in device memory; or null for kFirstClosing
  PaperKind kind;
  Page page;
};

/// Queues the closing of the largest of the quarter, with its sums. Nothing happens if its size is
/// above kMostSmallClosing.
void queue_small_closing(Cuda &, const SmallClosing &);

}  // namespace cudascan::binarize
