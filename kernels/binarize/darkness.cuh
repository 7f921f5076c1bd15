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
  SmallPlane paper;    ///< quarter
  SmallPlane details;  ///< quarter, of the coarse round: distances, see SmallClosing
  Plane<T> darkness;   ///< result, with kPad samples around each row and rows in fours
  /// Result of the fine round: the largest means of 2x2 darknesses under the samples of the
  /// sixteenth, all 0 before.
  std::uint32_t *darkest;
  SmallPlane cells;  ///< result of the fine round, quarter: mean darkness
  Page page;
  Rectangle roi;           ///< where darkness is counted
  Rectangle quarter_part;  ///< where details are
  Round round;
  bool fast;  ///< whether no other round follows the coarse one
};

/// Queues the darkness and its levels, and in the coarse round finding out whether the page is
/// blank.
template <typename T>
void queue_darkness(Cuda &, const RoundPlanes<T> &);

/// Queues finding the median run and the sizes that follow from it.
void queue_sizes(Cuda &, const Page &);

/// Where the decisions on ink go: to bits, or to the result if it has data.
template <typename Out>
struct InkTarget {
  DeviceBits ink;
  Plane<Out> out;
  bool count;  ///< whether pixels of the result are counted
};

/// Queues the decision of level fast.
template <typename T, typename Out>
void queue_coarse_ink(Cuda &, const RoundPlanes<T> &, const InkTarget<Out> &);

/// The planes of the second decision, in addition to those of the round.
template <typename T>
struct FinePlanes {
  Plane<T> least;      ///< for the minima of 5x5 darknesses, with kPad samples around each row
  SmallPlane darkest;  ///< for M, in the sixteenth
  SmallPlane around;   ///< for the mean darkness around, in the quarter
  DeviceBits cores;    ///< result, or without words
};

/// Queues finding what lies around each pixel: the least darknesses, M and the mean.
template <typename T>
void queue_around(Cuda &, const RoundPlanes<T> &, const FinePlanes<T> &);

/// Queues the decision of levels sized and full, after queue_around().
template <typename T, typename Out>
void queue_fine_ink(Cuda &, const RoundPlanes<T> &, const FinePlanes<T> &, const InkTarget<Out> &);

}  // namespace cudascan::binarize
