// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Histograms of planes, and what the operators based on them share.
///
/// A sample p has the level min(p >> shift, levels - 1); the shift drops the low bits that a format
/// such as P010 does not use. So 8-bit samples have 256 levels, 10-bit 1024, 12-bit 4096 and 16-bit
/// 65536, wherever the bits are in the word. Samples above the largest of the format have the last
/// level.
#pragma once
#include <bit>
#include <cstdint>
#include <vector>

#include "kernels/exec.h"

namespace cudascan {

/// A part of a plane, in pixels; a width or height of 0 means the whole plane. The rectangle is
/// clipped to the plane.
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
  Rectangle roi = {};         ///< counts only samples inside
  bool ignore_black = false;  ///< leaves samples of the lowest level out
  bool ignore_white = false;  ///< leaves samples of the highest level out
};

/// counts[i] samples have level i.
using Histogram = std::vector<std::uint32_t>;

/// Throws BadSetting for a rectangle with a negative number, or one that is completely outside a
/// plane of this size.
CUDASCAN_API void check_roi(const Rectangle &roi, int width, int height);

/// Counts the samples of a plane.
/// @param counts  the result; on Cuda it is valid after exec.synchronize()
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
/// @param counts  device memory for one number per level
CUDASCAN_API void count_on_device(Cuda &, Plane<const std::uint8_t> in, const HistogramParams &,
                                  std::uint32_t *counts);
CUDASCAN_API void count_on_device(Cuda &, Plane<const std::uint16_t> in, const HistogramParams &,
                                  std::uint32_t *counts);

}  // namespace cudascan
