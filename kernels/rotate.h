// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Turns an image about its centre by any angle: what straightens a page whose angle linearopen measured.
/// An operator of the library only: what straightens a stream has to look at a frame before it turns it.
///
/// Each pixel of the result looks at the place in the input where it comes from, rounded to 1/64 pixel,
/// and is made of the 4x4 samples around that place, with weights for its row and column parts. Cubic
/// weights are those of R. G. Keys, "Cubic convolution interpolation for digital image processing", IEEE
/// Trans. Acoustics, Speech, and Signal Processing 29(6), 1981, with a = -1/2: they reproduce slopes and
/// parabolas and pass through the samples, so that strokes stay sharp.
///
/// Exactness: places are integers in units of 2^-32 pixels, weights integers in units of 2^-11, and
/// rounding is stated in rotate/formula.h: CPU and CUDA results are identical. A turn by 0 copies the
/// image; turns by multiples of 90 degrees move samples only, where the centre falls on one, which it
/// does when width and height are both even or both odd.
#pragma once
#include <cstdint>

#include "kernels/exec.h"

namespace cudascan {

/// What is made of the samples around a place.
enum class RotateInterpolation {
  nearest,  ///< the nearest one: no new values, for images of two levels and of labels
  linear,   ///< of the four around it
  cubic,    ///< of sixteen; where values over- and undershoot, they stop at 0 and the maximum
};

/// What is outside of the input.
enum class RotateBorder {
  replicate,  ///< the nearest sample of the image
  constant,   ///< RotateParams::border_value
};

struct RotateParams {
  double angle = 0;  ///< degrees counter-clockwise, as seen on the screen, -360..360
  RotateInterpolation interpolation = RotateInterpolation::cubic;
  RotateBorder border = RotateBorder::replicate;
  /// Level outside of the input with border = constant, 0 to the largest of the format; -1 = the largest.
  /// Bits that the format does not have are dropped.
  int border_value = -1;
};

/// Throws BadSetting when a parameter is out of its range.
CUDASCAN_API void validate(const RotateParams &params);

/// Turns `in`; `out` has the same size and does not overlap. What leaves the frame is cut off.
/// @throws BadSetting for parameters that validate() refuses, a border_value that the format does not
///         have and planes of different sizes; Error when CUDA fails
CUDASCAN_API void run(Cpu &, Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
                      const RotateParams &);
CUDASCAN_API void run(Cpu &, Plane<const std::uint16_t> in, Plane<std::uint16_t> out,
                      const RotateParams &);
/// The same on the GPU, on planes in device memory. Throws Error in a build without CUDA.
CUDASCAN_API void run(Cuda &, Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
                      const RotateParams &);
CUDASCAN_API void run(Cuda &, Plane<const std::uint16_t> in, Plane<std::uint16_t> out,
                      const RotateParams &);

}  // namespace cudascan
