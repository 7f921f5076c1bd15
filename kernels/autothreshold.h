// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// One threshold for the whole image, found on its histogram. A pixel is white when it is above the
/// threshold T, black when it is at or below T.
///
/// The methods are functions of the histogram (autothreshold/methods.h has the definition and
/// source of each). If several thresholds are equally good, the lowest is taken. The threshold of
/// an image with one level is that level, so the image becomes black. If all samples are left out
/// (ignore_black and so on), T is 0. Histograms are exact at every size; sums have at least 64
/// bits.
///
/// T is in the levels of the format (histogram.h defines a level). huang, shanbhag, minimum,
/// intermodes and more than two classes use at most 256 levels: they group the levels of deeper
/// samples into 256 equal steps, and T is the last level of a step.
///
/// Exactness: CPU and CUDA results are identical. otsu, isodata, triangle, percentile and mean are
/// computed in integers. The others use double precision, with the same operations in the same
/// order on both and our own logarithm.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/exec.h"
#include "kernels/histogram.h"

namespace cudascan {

enum class AutothresholdMethod {
  otsu,
  isodata,
  mcet,
  triangle,
  max_entropy,
  yen,
  li,
  minimum,
  intermodes,
  moments,
  huang,
  renyi_entropy,
  shanbhag,
  percentile,
  mean,
};

/// How the threshold is found.
enum class AutothresholdAlgorithm {
  automatic,  ///< the fastest
  /// The kernels of Prahara, Pranolo, Anwar, Mao, "Parallel Approach of Adaptive Image Thresholding
  /// Algorithm on GPU", KEDS 4(2), 2021: otsu, isodata and mcet of 8-bit samples, two classes. They
  /// round as published, so T may differ by a few levels (see autothreshold/baseline.h).
  prahara,
};

struct AutothresholdReport;

struct AutothresholdParams {
  using Report = AutothresholdReport;  ///< what run() measures

  AutothresholdMethod method = AutothresholdMethod::otsu;
  /// Number of classes, 2..4; more than 2 only with otsu. More classes are painted in equal steps
  /// from 0 to white.
  int classes = 2;
  /// Whether the result is black and white; otherwise it is a copy of the input.
  bool apply = true;
  bool invert = false;  ///< swaps black and white
  /// Levels added to T, -65535..65535.
  int offset = 0;
  /// Weight of the past frames' threshold in this one's, 0..0.999; only with two classes.
  double smoothing = 0;
  /// T changes only if the change is more than this many levels, 0..65535; only with two classes.
  int hysteresis = 0;
  bool ignore_black = false;  ///< leaves the lowest level out of the statistics
  bool ignore_white = false;  ///< leaves the highest level out of the statistics
  Rectangle roi = {};         ///< statistics use only this part
  AutothresholdAlgorithm algorithm = AutothresholdAlgorithm::automatic;
};

/// What run() measured; valid after exec.synchronize().
struct AutothresholdReport {
  int threshold = 0;            ///< the applied T, after smoothing, hysteresis and offset
  std::vector<int> thresholds;  ///< all classes - 1 of them
  double mean_below = 0;  ///< mean level of counted samples at or below T; 0 if there are none
  double mean_above = 0;  ///< the same above T
  /// Variance between the classes over the total variance, 0..1; 0 for an image of one level.
  double separability = 0;
  Histogram histogram;  ///< of the counted samples
};

/// Throws BadSetting when a parameter is out of range or contradicts another.
CUDASCAN_API void validate(const AutothresholdParams &params);
/// The settings that the result depends on with these values, by their names in messages, in the
/// order of use. The others do not count, or do not change the result.
CUDASCAN_API std::vector<const char *> settings_in_use(const AutothresholdParams &params);

/// Finds the threshold of `in` and writes black and white, 0 and Plane::maximum of `out`. `out` has
/// the same size and does not overlap.
/// smoothing and hysteresis use the previous frames on the same executor, until its forget().
/// @throws BadSetting for parameters that validate() refuses, planes of different sizes, a roi
///         outside the plane, and apply = false with an output of another depth; Error when CUDA
///         fails
CUDASCAN_API void run(Cpu &, Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
                      const AutothresholdParams &, AutothresholdReport * = nullptr);
CUDASCAN_API void run(Cpu &, Plane<const std::uint16_t> in, Plane<std::uint16_t> out,
                      const AutothresholdParams &, AutothresholdReport * = nullptr);
CUDASCAN_API void run(Cpu &, Plane<const std::uint16_t> in, Plane<std::uint8_t> out,
                      const AutothresholdParams &, AutothresholdReport * = nullptr);
/// The same on the GPU, on planes in device memory. Throws Error in a build without CUDA.
CUDASCAN_API void run(Cuda &, Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
                      const AutothresholdParams &, AutothresholdReport * = nullptr);
CUDASCAN_API void run(Cuda &, Plane<const std::uint16_t> in, Plane<std::uint16_t> out,
                      const AutothresholdParams &, AutothresholdReport * = nullptr);
CUDASCAN_API void run(Cuda &, Plane<const std::uint16_t> in, Plane<std::uint8_t> out,
                      const AutothresholdParams &, AutothresholdReport * = nullptr);

}  // namespace cudascan
