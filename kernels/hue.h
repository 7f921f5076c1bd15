// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Makes directions visible: chroma that shows angles as hues.
#pragma once
#include <cstdint>

#include "kernels/exec.h"

namespace cudascan {

/// The chroma of a YUV image.
template <typename T>
struct ChromaPlanes {
  Plane<T> u, v;  ///< width and height in samples of one of them
  int step = 1;   ///< distance of samples in a row: 1 in planar formats, 2 in semi-planar
  int shift_x = 0, shift_y = 0;  ///< 1 if a sample covers two columns (rows)
};

/// Gives each chroma sample the hue of an angle. Hues go around once in 180 degrees: u and v are on
/// a circle around the colourless value, at twice the angle, counter-clockwise from the u axis. So
/// a line and the same line rotated by 180 degrees look the same, and perpendicular lines have
/// opposite colours. The radius is 112 of 255 levels, the nominal range of chroma, for every luma.
///
/// A sample that covers several pixels has the angle of the top left one.
///
/// @param angles  whole degrees, 0..179, in steps of the format: with 10 bits in the high bits of
///                16, a sample is 64 times the angle
/// @throws BadSetting for planes whose sizes do not match
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
