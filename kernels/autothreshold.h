// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// One threshold for the whole image, found on its histogram. A pixel is white when it is above the
/// threshold T, black when it is at or below T.
///
/// The methods are functions over the histogram (autothreshold/methods.h has each with its definition and
/// source). Where several thresholds are equally good, the lowest is taken. An image of one level has
/// that level for its threshold, so it is black; where everything is left out (ignore_black and so on),
/// T is 0. Histograms are exact at every size, sums have 64 bits and more.
///
/// T is in the levels of the format (histogram.h says what a level is). huang, shanbhag, minimum and
/// intermodes and more than two classes look at no more than 256 levels: those of deeper samples they
/// take together in 256 equal steps, and T is the last level of a step.
///
/// Exactness: CPU and CUDA results are identical. otsu, isodata, triangle, percentile and mean are decided
/// in integers, the others in double precision with the same operations in the same order on both, with
/// a logarithm of our own.
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
  /// round as published, so T may differ by a few levels (autothreshold/baseline.h says where).
  prahara,
};

struct AutothresholdReport;

struct AutothresholdParams {
  using Report = AutothresholdReport;  ///< what run() measures

  AutothresholdMethod method = AutothresholdMethod::otsu;
  /// Number of classes, 2..4. More than 2 only with otsu: the classes are then painted in equal steps
  /// from 0 to white.
  int classes = 2;
  /// Whether the result is black and white; otherwise it is a copy of the input.
  bool apply = true;
  bool invert = false;  ///< swaps black and white
  /// Levels that are added to T, -65535..65535.
  int offset = 0;
  /// Weight of the past frames' threshold in this one's, 0..0.999; only with two classes.
  double smoothing = 0;
  /// T moves only when it would by more than so many levels, 0..65535; only with two classes.
  int hysteresis = 0;
  bool ignore_black = false;  ///< leaves the lowest level out of the statistics
  bool ignore_white = false;  ///< leaves the highest level out of the statistics
  Rectangle roi = {};         ///< statistics are from there only
  AutothresholdAlgorithm algorithm = AutothresholdAlgorithm::automatic;
};

/// What run() measured; valid after exec.synchronize().
struct AutothresholdReport {
  int threshold = 0;            ///< T, with smoothing, hysteresis and offset, as it was applied
  std::vector<int> thresholds;  ///< all classes - 1 of them
  double mean_below = 0;  ///< mean level of what was counted at or below T; 0 where nothing is
  double mean_above = 0;  ///< the same above T
  /// Variance between the classes over all variance, 0..1; 0 for an image of one level.
  double separability = 0;
  Histogram histogram;  ///< of what was counted
};

/// Throws BadSetting when a parameter is out of its range or goes with no other.
CUDASCAN_API void validate(const AutothresholdParams &params);

/// Finds the threshold of `in` and writes black and white, 0 and Plane::maximum of `out`. `out` has
/// the same size and does not overlap.
/// smoothing and hysteresis go on from the frames before on the same executor, until its forget().
/// @throws BadSetting for parameters that validate() refuses, planes of different sizes, a roi outside
///         of the plane, and apply = false with another depth of the output; Error when CUDA fails
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
