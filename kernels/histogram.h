// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Histograms of planes, and what the operators that rest on them share.
///
/// A sample p has the level min(p >> shift, levels - 1); the shift leaves out the low bits that a format
/// such as P010 does not use. So there are 256 levels of 8-bit samples, 1024 of 10-bit, 4096 of 12-bit
/// and 65536 of 16-bit ones, wherever in the word they lie, and no sample, not even one above the
/// largest of its format, is beyond the last.
#pragma once
#include <bit>
#include <cstdint>
#include <vector>

#include "kernels/exec.h"

namespace cudascan {

/// A part of a plane, in pixels; a width or height of 0 stands for the whole plane. What lies outside
/// of the plane counts as cut off.
struct Rectangle {
  int x = 0, y = 0, width = 0, height = 0;

  friend bool operator==(const Rectangle &, const Rectangle &) = default;
};

/// The levels of a sample format.
struct Levels {
  int shift;
  int count;

  /// @param maximum  Plane::maximum
  static constexpr Levels of(unsigned maximum) {
    const int shift = maximum ? std::countr_zero(maximum) : 0;
    return {shift, static_cast<int>(maximum >> shift) + 1};
  }
  CUDASCAN_HD int level(unsigned sample) const {
    const int level = static_cast<int>(sample >> shift);
    return level < count ? level : count - 1;
  }
};

struct HistogramParams {
  Rectangle roi = {};         ///< only samples in it are counted
  bool ignore_black = false;  ///< leaves samples of the lowest level out
  bool ignore_white = false;  ///< leaves samples of the highest level out
};

/// counts[i] samples have level i.
using Histogram = std::vector<std::uint32_t>;

/// Throws BadSetting for a rectangle with a negative number, or one that lies outside of a plane of
/// this size.
CUDASCAN_API void check_roi(const Rectangle &roi, int width, int height);

/// Counts the samples of a plane.
/// @param counts  the result; on Cuda it is there after exec.synchronize()
/// @throws BadSetting for a roi that check_roi() refuses; Error when CUDA fails
CUDASCAN_API void count(Cpu &, Plane<const std::uint8_t> in, const HistogramParams &,
                        Histogram &counts);
CUDASCAN_API void count(Cpu &, Plane<const std::uint16_t> in, const HistogramParams &,
                        Histogram &counts);
CUDASCAN_API void count(Cuda &, Plane<const std::uint8_t> in, const HistogramParams &,
                        Histogram &counts);
CUDASCAN_API void count(Cuda &, Plane<const std::uint16_t> in, const HistogramParams &,
                        Histogram &counts);
/// Only queues the counting, for results that stay on the GPU.
/// @param counts  device memory for as many numbers as there are levels
CUDASCAN_API void count_on_device(Cuda &, Plane<const std::uint8_t> in, const HistogramParams &,
                                  std::uint32_t *counts);
CUDASCAN_API void count_on_device(Cuda &, Plane<const std::uint16_t> in, const HistogramParams &,
                                  std::uint32_t *counts);

}  // namespace cudascan
