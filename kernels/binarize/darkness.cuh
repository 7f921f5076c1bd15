// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Darkness, its levels, and ink.
#pragma once
#include "kernels/binarize/components.cuh"
#include "kernels/binarize/windows.cuh"

namespace cudascan::binarize {

/// The planes of a round.
template <typename T>
struct RoundPlanes {
  Plane<const T> in;
  SmallPlane paper;   ///< quarter
  Plane<T> darkness;  ///< with kPad samples around each row
  SmallPlane means;   ///< quarter: the largest of the means of 2x2 darknesses; or without data
  Page page;
  Round round;
};

/// Queues the darkness, and the means if they have data.
template <typename T>
void queue_darkness(Cuda &, const RoundPlanes<T> &);

/// Queues finding the levels of a histogram of darkness, and in the coarse round whether the page
/// is blank.
/// @param counts  kDarkest + 1 numbers in device memory
/// @param fast    whether the second round will not follow
void queue_levels(Cuda &, const Page &, Round, const std::uint32_t *counts, int darkest, bool fast);

/// Queues finding the median run and the sizes that follow from it.
void queue_sizes(Cuda &, const Page &);

/// Queues the decision of level fast.
template <typename T>
void queue_coarse_ink(Cuda &, const RoundPlanes<T> &, const DeviceBits &ink);

/// The planes of the second decision, in addition to those of the round.
template <typename T>
struct FinePlanes {
  Plane<T> least;      ///< of 5x5 darknesses, with kPad samples around each row
  SmallPlane darkest;  ///< quarter: M
  DeviceBits ink;      ///< the result
  DeviceBits cores;    ///< or without words
};

/// Queues the minima of 5x5 darknesses.
template <typename T>
void queue_least(Cuda &, const RoundPlanes<T> &, const FinePlanes<T> &);
/// Queues the decision of levels sized and full.
template <typename T>
void queue_fine_ink(Cuda &, const RoundPlanes<T> &, const FinePlanes<T> &);

}  // namespace cudascan::binarize
