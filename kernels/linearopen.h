// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Openings and closings by line segments of any length and angle, their supremum over many
/// directions, and the position and direction of linear structures in the image.
///
/// After Karas, Morard, Bartovsky, Grandpierre, Dokladalova, Matula, Dokladal, "GPU implementation
/// of linear morphological openings with arbitrary angle", Journal of Real-Time Image Processing
/// 10(1), 2015; equation numbers are theirs.
///
/// Lines. digital_lines.h defines the pixels of a line. A segment is `length` pixels of a line,
/// counted along the axis (rows or columns) that the line is nearer to. In the order of rows or
/// columns, it begins length / 2 pixels before its centre and ends (length - 1) / 2 pixels after
/// it.
///
/// Opening. The result at a pixel is the largest of all minima over segments that contain it: a
/// bright structure stays where a segment fits into it. Centres of segments are inside the image;
/// pixels of a segment outside the image do not count. So an opening is never above its input,
/// opening twice equals opening once, and closing the complement is the complement of opening.
/// Top-hat is input - opening, black-hat is closing - input.
///
/// Several directions. The largest of their openings, or the smallest of their closings; top-hat
/// and black-hat are its difference from the input.
///
/// Exactness: everything is minima and maxima of samples, and sums are 64-bit integers. So CPU and
/// CUDA results are identical, and those of all algorithms, too. Floating-point samples are ordered
/// by IEEE 754 totalOrder: -0 below +0 and NaN at the ends; differences are rounded once.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/exec.h"

namespace cudascan {

enum class LinearOpenOperation { opening, closing, top_hat, black_hat };

enum class LinearOpenOutput {
  filtered,
  /// The direction with the strongest response (the largest opening or the smallest closing; of
  /// equal ones the first), as its angle in whole degrees, 0..179, in steps of the format.
  orientation,
};

/// Defines the segment at a pixel.
enum class LinearOpenLines {
  /// The image is cut into translated lines, and segments are parts of these (section 4.3).
  partition,
  /// The same segment at every pixel, as in libraries that use a mask.
  invariant,
};

/// How openings along lines are computed; all but `automatic` only with LinearOpenLines::partition.
enum class LinearOpenAlgorithm {
  automatic,  ///< the fastest
  morard,     ///< stack of Morard, Dokladal, Decenciere, 2011, a thread per line (Algorithm 1)
  bartovsky,  ///< queue of Bartovsky, Dokladal, Dokladalova, Bilodeau, 2011 (Algorithm 2)
  /// The same with the image split in zones, queues in shared memory and transposed results
  /// (section 5); on the CPU the same as `bartovsky`.
  bartovsky_zones,
};

struct LinearOpenReport;

struct LinearOpenParams {
  using Report = LinearOpenReport;  ///< what run() measures

  LinearOpenOperation operation = LinearOpenOperation::opening;
  int length = 21;  ///< pixels of a segment along the axis that the line is nearer to, 1..4096
  double angle =
      0;  ///< degrees from the x axis counter-clockwise, as seen on the screen, -360..360
  int directions = 1;  ///< number of directions, spread over `span` from `angle` on, 1..1024
  /// Degrees, 0 < span <= 180. The last direction is at the end of the span. With 180 that end is
  /// left out, because it equals the first direction.
  double span = 180;
  LinearOpenOutput output = LinearOpenOutput::filtered;
  LinearOpenLines lines = LinearOpenLines::partition;
  LinearOpenAlgorithm algorithm = LinearOpenAlgorithm::automatic;
};

/// What run() measured; valid after exec.synchronize().
struct LinearOpenReport {
  std::vector<double> angles;  ///< of the directions, in degrees, as in LinearOpenParams
  /// The sum of each direction's result over the image (equation 6); for top-hat and black-hat, of
  /// its difference from the input. Floating-point samples are rounded to units of 1/65536.
  std::vector<std::int64_t> spectrum;
  /// The angle of the spectrum's strongest response, in degrees, interpolated between directions.
  double dominant_angle = 0;
  /// How much the dominant angle stands out in the spectrum, 0..1; linearopen/spectrum.h has the
  /// formula.
  double confidence = 0;
  /// Whether there is no clear direction: an empty page, a photograph, noise.
  bool blank = true;
};

/// The angles of the directions, in degrees.
CUDASCAN_API std::vector<double> directions_of(const LinearOpenParams &params);

/// Throws BadSetting when a parameter is out of range or contradicts another.
CUDASCAN_API void validate(const LinearOpenParams &params);
/// The settings that the result depends on with these values, by their names in messages, in the
/// order of use. The others do not count, or do not change the result.
CUDASCAN_API std::vector<const char *> settings_in_use(const LinearOpenParams &params);

/// Filters `in`; `out` has the same size and does not overlap.
/// @throws BadSetting for parameters that validate() refuses and planes of different sizes; Error
///         when CUDA fails
CUDASCAN_API void run(Cpu &, Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
                      const LinearOpenParams &, LinearOpenReport * = nullptr);
CUDASCAN_API void run(Cpu &, Plane<const std::uint16_t> in, Plane<std::uint16_t> out,
                      const LinearOpenParams &, LinearOpenReport * = nullptr);
CUDASCAN_API void run(Cpu &, Plane<const float> in, Plane<float> out, const LinearOpenParams &,
                      LinearOpenReport * = nullptr);
/// The same on the GPU, on planes in device memory. Throws Error in a build without CUDA.
CUDASCAN_API void run(Cuda &, Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
                      const LinearOpenParams &, LinearOpenReport * = nullptr);
CUDASCAN_API void run(Cuda &, Plane<const std::uint16_t> in, Plane<std::uint16_t> out,
                      const LinearOpenParams &, LinearOpenReport * = nullptr);
CUDASCAN_API void run(Cuda &, Plane<const float> in, Plane<float> out, const LinearOpenParams &,
                      LinearOpenReport * = nullptr);

}  // namespace cudascan
