// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Directions made visible: chroma that shows angles as hues.
#pragma once
#include <cstdint>

#include "kernels/exec.h"

namespace cudascan {

/// The chroma of a YUV image.
template <typename T>
struct ChromaPlanes {
  Plane<T> u, v;  ///< width and height in samples of one of them
  int step = 1;   ///< samples from one to the next in a row: 1 in planar formats, 2 in semi-planar
  int shift_x = 0, shift_y = 0;  ///< 1 where a sample is for two columns, for two rows
};

/// Gives each chroma sample the hue of an angle. Hues go once around in 180 degrees: u and v are on a
/// circle around the value without colour, at twice the angle, counter-clockwise from the u axis. So
/// the directions of a line and of the same line turned by 180 degrees look alike, and those at a right
/// angle to each other have opposite colours. The radius is 112 of 255 levels, the nominal range of
/// chroma, whatever the luma is.
///
/// A sample that is for more than one pixel has the angle of the one at their top left.
///
/// @param angles  whole degrees, 0..179, in steps of the format: the sample of 10 bits in the high bits
///                of 16 is 64 times the angle
/// @throws BadSetting for planes whose sizes do not go together
CUDASCAN_API void paint_hues(Cpu &, Plane<const std::uint8_t> angles,
                             const ChromaPlanes<std::uint8_t> &out);
CUDASCAN_API void paint_hues(Cpu &, Plane<const std::uint16_t> angles,
                             const ChromaPlanes<std::uint16_t> &out);
/// The same on the GPU, on planes in device memory. Throws Error in a build without CUDA.
CUDASCAN_API void paint_hues(Cuda &, Plane<const std::uint8_t> angles,
                             const ChromaPlanes<std::uint8_t> &out);
CUDASCAN_API void paint_hues(Cuda &, Plane<const std::uint16_t> angles,
                             const ChromaPlanes<std::uint16_t> &out);

}  // namespace cudascan
