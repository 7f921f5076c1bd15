// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include "kernels/binarize/things.cuh"

namespace cudascan::binarize {

template <typename T, typename Out>
struct PaintJob {
  Plane<const T> in;
  Plane<Out> out;
  DeviceBits ink;
  bool has_things;          ///< whether the following planes are filled
  DeviceBits near, margin;  ///< quarter
  SmallPlane widest_paper;
  Page page;
  bool count;  ///< pixels of ink, for the report
};

/// Queues writing black and white.
template <typename T, typename Out>
void queue_paint(Cuda &, const PaintJob<T, Out> &);
/// Queues counting the ink without writing anything.
template <typename T>
void queue_count_ink(Cuda &, const PaintJob<T, T> &);

/// Queues writing darkness, scaled to the range of the output.
template <typename T>
void queue_show_darkness(Cuda &, Plane<T> darkness, Plane<T> out);

}  // namespace cudascan::binarize
