// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Rotates an image about its centre by any angle, for instance to straighten a page whose angle
/// linearopen has measured. There is no element for it, because straightening a stream needs a look
/// at each frame first.
///
/// Each pixel of the result is computed at the point of the input where it comes from, rounded to
/// 1/64 pixel, from the 4x4 samples around that point, with separate weights for rows and columns.
/// Cubic weights are those of R. G. Keys, "Cubic convolution interpolation for digital image
/// processing", IEEE Trans. Acoustics, Speech, and Signal Processing 29(6), 1981, with a = -1/2:
/// they reproduce slopes and parabolas exactly and interpolate the samples, so strokes stay sharp.
///
/// Exactness: positions are integers in units of 2^-32 pixels, weights are integers in units of
/// 2^-11, and rotate/formula.h defines the rounding. So CPU and CUDA results are identical. A
/// rotation by 0 copies the image. Multiples of 90 degrees only move samples if width and height
/// are both even or both odd.
#pragma once
#include <cstdint>

#include "kernels/exec.h"

namespace cudascan {

/// How samples are interpolated.
enum class RotateInterpolation {
  nearest,  ///< the nearest one: no new values, for images of two levels and of labels
  linear,   ///< from the four samples around the point
  cubic,    ///< from sixteen; values are clamped to 0 and the maximum
};

/// The samples outside the input.
enum class RotateBorder {
  replicate,  ///< the nearest sample of the image
  constant,   ///< RotateParams::border_value
};

struct RotateParams {
  double angle = 0;  ///< degrees counter-clockwise, as seen on the screen, -360..360
  RotateInterpolation interpolation = RotateInterpolation::cubic;
  RotateBorder border = RotateBorder::replicate;
  /// Level outside the input with border = constant, 0 to the largest of the format; -1 = the
  /// largest. Unused bits of the format are dropped.
  int border_value = -1;
};

/// Throws BadSetting when a parameter is out of range.
CUDASCAN_API void validate(const RotateParams &params);

/// Rotates `in`; `out` has the same size and does not overlap. Parts that leave the frame are cut
/// off.
/// @throws BadSetting for parameters that validate() refuses, a border_value out of the format's
///         range and planes of different sizes; Error when CUDA fails
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
