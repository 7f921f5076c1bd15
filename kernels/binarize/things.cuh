// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Ink that is connected, and dark things that are wider than strokes.
#pragma once
#include "kernels/binarize/components.cuh"
#include "kernels/binarize/windows.cuh"

namespace cudascan::binarize {

/// Queues dropping ink without a core, and the median darkness of the rest.
template <typename T>
void queue_reconstruct(Cuda &, const Page &, const DeviceComponents &ink, const DeviceBits &cores,
                       Plane<T> darkness);

/// Planes of quarter size, for wide things. `thing` and `opened` are the dark pixels and their
/// opening.
struct ThingPlanes {
  SmallPlane quarter, wide_paper, widest_paper;
  SmallPlane dark, thick, step_high, step_low,
      darkness;         ///< `dark`: 0, 1, 2 for margins; `thick`: 0, 1
  SmallPlane spare[4];  ///< transposed
  DeviceComponents thing, opened;
  DeviceBits thick_bits, edge_bits, soft_bits;
  std::uint32_t *edge_counts, *soft_counts;  ///< of the nodes of `thing`
  DeviceBits margin;                         ///< result: becomes paper
  DeviceBits near;                           ///< result: at or next to things that become ink
  Page page;
  int darkest;
};

/// Queues finding wide things and margins. The papers, before, are closings of the quarter.
void queue_things(Cuda &, const ThingPlanes &);

}  // namespace cudascan::binarize
