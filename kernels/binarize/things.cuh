// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Ink that is connected, and dark things that are wider than strokes.
#pragma once
#include "kernels/binarize/components.cuh"
#include "kernels/binarize/windows.cuh"

namespace cudascan::binarize {

/// Queues dropping ink without a core, and the median darkness of the rest.
/// @param cores  with the memory for components of ink; its bits are not kept
template <typename T>
void queue_reconstruct(Cuda &, const Page &, const DeviceBits &ink, const DeviceComponents &cores,
                       Plane<T> darkness);

/// Planes of quarter size, for wide things. Where there are none, numbers.any_thick and any_opened,
/// the results are not filled.
struct ThingPlanes {
  SmallPlane quarter;
  SmallPlane wide_paper, widest_paper;  ///< sixteenth
  SmallPlane darkness;                  ///< against the widest paper
  DeviceComponents thing, opened;       ///< the dark pixels, and the opening of the darkest ones
  DeviceBits thick, deep;               ///< dark against the wide paper; dark enough for margins
  DeviceBits centre;                    ///< centres of thick squares, later the things that are ink
  std::uint32_t *edge_counts, *soft_counts;  ///< of the nodes of `thing`
  DeviceBits margin;                         ///< result: becomes paper
  DeviceBits near;                           ///< result: at or next to things that become ink
  Page page;
  int darkest;
};

/// Queues finding wide things and margins. The papers, before, are closings of the sixteenth.
void queue_things(Cuda &, const ThingPlanes &);

}  // namespace cudascan::binarize
