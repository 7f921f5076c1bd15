// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Histogram equalization: maps the levels of an image so that they are spread evenly over the
/// range. With L levels (histogram.h defines a level), h(i) pixels of level i, cdf(i) pixels of
/// level i or below, N pixels in all and m the lowest level present:
///
/// | formula | level i becomes                             | source                               |
/// |---------|---------------------------------------------|--------------------------------------|
/// | opencv  | round((cdf(i) - h(m)) (L - 1) / (N - h(m))) | equalizeHist() of OpenCV             |
/// | cdf     | floor(cdf(i) (L - 1) / N)                   | Dobreanu, Chelaru, "Histogram        |
/// |         |                                             | equalization"                        |
///
/// With opencv, an image of one level stays unchanged.
///
/// opencv rounds in single precision with 8-bit samples, as OpenCV does, so results are equal.
/// OpenCV does not support deeper samples; for these it rounds the exact quotient, halves up.
///
/// clahe (Zuiderveld, "Contrast limited adaptive histogram equalization", Graphics Gems IV, 1994)
/// makes a mapping for each tile of the image, with no bin above a limit, and interpolates between
/// the four nearest mappings. Rounding, borders and the redistribution of clipped counts are those
/// of OpenCV's CLAHE; results are equal at 8 and 16 bits.
///
/// If Plane::black and Plane::white of the input exclude a part of the range (limited-range video),
/// samples beyond them count as these, L is the number of levels from black to white, and the
/// result stays between them.
///
/// Exactness: CPU and CUDA results are identical.
#pragma once
#include <cstdint>
#include <vector>

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
  /// The kernels of Dobreanu and Chelaru, 8 bits, formula = cdf: a global atomic increment for each
  /// pixel, then a thread and a division of integers for each pixel.
  naive,
  /// Their kernels with both optimizations: histograms in shared memory and a factor in single
  /// precision, so levels may differ by one from those of `automatic`.
  shared,
};

struct EqualizeReport;

struct EqualizeParams {
  using Report = EqualizeReport;  ///< what run() measures

  EqualizeMethod method = EqualizeMethod::global;
  EqualizeFormula formula = EqualizeFormula::opencv;  ///< of global
  /// Of clahe: a bin holds at most so many times the mean, 0..1000000; 0 = no limit.
  double clip_limit = 40;
  int tiles_x = 8, tiles_y = 8;  ///< of clahe: tiles in a row and in a column, 1..64
  /// Weight of the result against the input, 0..1; 0 = the input.
  double amount = 1;
  /// Weight of the past frames' mapping in this one's, 0..0.999; of global. The mapping starts
  /// again when the scene changes, that is, when the histograms of two frames differ in more than a
  /// third of the pixels.
  double smoothing = 0;
  Rectangle roi = {};  ///< of global: statistics use only this part
  EqualizeAlgorithm algorithm = EqualizeAlgorithm::automatic;
};

/// What run() measured, before the mapping; valid after exec.synchronize().
struct EqualizeReport {
  Histogram histogram;
  int minimum = 0, maximum = 0;  ///< levels
  double mean = 0;               ///< level
};

/// Throws BadSetting when a parameter is out of range or contradicts another.
CUDASCAN_API void validate(const EqualizeParams &params);
/// The settings that the result depends on with these values, by their names in messages, in the
/// order of use. The others do not count, or do not change the result.
CUDASCAN_API std::vector<const char *> settings_in_use(const EqualizeParams &params);

/// Equalizes `in`. `out` has the same size and does not overlap; it has the levels of `in`.
/// smoothing uses the previous frames on the same executor, until its forget().
/// @throws BadSetting for parameters that validate() refuses, planes of different sizes and a roi
///         outside the plane; Error when CUDA fails
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
