// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Histogram equalization: the levels of an image are mapped so that they are spread evenly over
/// the range. With L levels (histogram.h says what a level is), h(i) pixels of level i, cdf(i) of level i
/// or below, N in all and m the lowest level there is:
///
/// | formula | level i becomes                                             | source                          |
/// |---------|-------------------------------------------------------------|---------------------------------|
/// | opencv  | round((cdf(i) - h(m)) (L - 1) / (N - h(m))); an image of one level stays as it is | equalizeHist() of OpenCV |
/// | cdf     | floor(cdf(i) (L - 1) / N)                                   | Dobreanu, Chelaru, "Histogram equalization" |
///
/// opencv rounds in single precision with 8-bit samples, as OpenCV does, so that results are equal; with
/// deeper samples, which OpenCV does not take, it rounds the quotient itself, halves up.
///
/// clahe (Zuiderveld, "Contrast limited adaptive histogram equalization", Graphics Gems IV, 1994) makes a
/// mapping for each tile of the image, with no bin above a limit, and interpolates between the
/// four nearest; rounding, borders and the share-out of what is cut off are those of OpenCV's CLAHE, with
/// which results are equal at 8 and 16 bit.
///
/// Where Plane::black and Plane::white of the input leave a part of the range out (limited-range
/// video), samples beyond them count as they do, L is the number of levels between, and the result stays
/// between them.
///
/// Exactness: CPU and CUDA results are identical.
#pragma once
#include <cstdint>

#include "kernels/exec.h"
#include "kernels/histogram.h"

namespace cudascan {

enum class EqualizeMethod {
  global,  ///< one mapping for the image
  clahe,   ///< contrast limited adaptive histogram equalization
};

enum class EqualizeFormula { opencv, cdf };

/// How the mapping of `global` is computed and applied.
enum class EqualizeAlgorithm {
  automatic,  ///< the fastest
  /// The kernels of Dobreanu and Chelaru, 8 bit: a global atomic increment for each pixel, then a thread
  /// for each pixel that reads the mapping.
  naive,
  /// Theirs with histograms in shared memory and 128 pixels a thread. Both compute formula = cdf with a
  /// factor in single precision, so levels may differ by one from those of `automatic`.
  shared,
};

struct EqualizeReport;

struct EqualizeParams {
  using Report = EqualizeReport;  ///< what run() measures

  EqualizeMethod method = EqualizeMethod::global;
  EqualizeFormula formula = EqualizeFormula::opencv;  ///< of global
  /// Of clahe: a bin holds at most so many times the mean, 0..1000000; 0 = no limit.
  double clip_limit = 40;
  int tiles_x = 8, tiles_y = 8;  ///< of clahe: tiles side by side, 1..64, and over each other
  /// Weight of the result beside the input, 0..1; 0 = the input.
  double amount = 1;
  /// Weight of the past frames' mapping in this one's, 0..0.999; of global. The mapping starts anew
  /// when the scene changes: when more than a third of the pixels are at other levels than in the frame
  /// before.
  double smoothing = 0;
  Rectangle roi = {};  ///< of global: statistics are from there only
  EqualizeAlgorithm algorithm = EqualizeAlgorithm::automatic;
};

/// What run() measured, before the mapping; valid after exec.synchronize().
struct EqualizeReport {
  Histogram histogram;
  int minimum = 0, maximum = 0;  ///< levels
  double mean = 0;               ///< level
};

/// Throws BadSetting when a parameter is out of its range or goes with no other.
CUDASCAN_API void validate(const EqualizeParams &params);

/// Equalizes `in`. `out` has the same size and does not overlap; it has the levels of `in`.
/// smoothing goes on from the frames before on the same executor, until its forget().
/// @throws BadSetting for parameters that validate() refuses, planes of different sizes and a roi
///         outside of the plane; Error when CUDA fails
CUDASCAN_API void run(Cpu &, Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
                      const EqualizeParams &, EqualizeReport * = nullptr);
CUDASCAN_API void run(Cpu &, Plane<const std::uint16_t> in, Plane<std::uint16_t> out,
                      const EqualizeParams &, EqualizeReport * = nullptr);
/// The same on the GPU, on planes in device memory. Throws Error in a build without CUDA.
CUDASCAN_API void run(Cuda &, Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
                      const EqualizeParams &, EqualizeReport * = nullptr);
CUDASCAN_API void run(Cuda &, Plane<const std::uint16_t> in, Plane<std::uint16_t> out,
                      const EqualizeParams &, EqualizeReport * = nullptr);

}  // namespace cudascan
