// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The published algorithms for openings along lines, for comparison (LinearOpenAlgorithm). They
/// differ from the publication in one point: the part of a segment outside the image does not
/// count. So a line is treated as if length / 2 samples before it and (length - 1) / 2 after it
/// were larger than any other (linearopen.h).
#pragma once
#include <cstdint>

#include "kernels/linearopen.h"
#include "kernels/linearopen/digital_lines.h"

namespace cudascan::linearopen {

/// Opens along the lines of one direction. Samples are unsigned integers of 8, 16 or 32 bits.
/// @param algorithm  not automatic
template <typename T>
CUDASCAN_API void open_lines(Cpu &, LinearOpenAlgorithm algorithm,
                             const lines::Direction &direction, int length, Plane<const T> in,
                             Plane<T> out);
/// The same on the GPU, queued.
/// @param scratch  device memory, see open_lines_scratch()
template <typename T>
CUDASCAN_API void open_lines(Cuda &, LinearOpenAlgorithm algorithm,
                             const lines::Direction &direction, int length, Plane<const T> in,
                             Plane<T> out, void *scratch);
/// Bytes of `scratch` needed.
CUDASCAN_API std::size_t open_lines_scratch(Cuda &, LinearOpenAlgorithm algorithm,
                                            const lines::Direction &direction, int length,
                                            int width, int height, std::size_t sample);

}  // namespace cudascan::linearopen
