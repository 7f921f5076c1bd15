// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// From the threshold that a method has found to the applied one, and from a sample to its class:
/// decisions that the CPU and CUDA implementations of autothreshold.h share.
#pragma once
#include <cstdint>

#include "kernels/autothreshold.h"
#include "kernels/base/refuse.h"

namespace cudascan::autothreshold {

inline constexpr int kMaxClasses = 4;

/// State kept from frame to frame; all zero at the start of a stream. State and settings are
/// fixed-point numbers with 16 fractional bits, so that both backends give the same result.
struct ThresholdHistory {
  std::uint32_t frames;
  std::int32_t in_use;  ///< T without offset
  std::int64_t state;   ///< the smoothed T, Q16
};

/// AutothresholdParams as step() needs them.
struct Settings {
  std::int32_t weight;  ///< of the past, Q16
  std::int32_t hysteresis;
  std::int32_t offset;
  std::int32_t levels;
};

inline Settings make_settings(const AutothresholdParams &params, int levels) {
  return {static_cast<std::int32_t>(params.smoothing * 65536 + 0.5), params.hysteresis,
          params.offset, levels};
}

/// The applied T: -1 (all white) to the highest level (all black).
CUDASCAN_HD inline int with_offset(int threshold, const Settings &s) {
  const int shifted = threshold + s.offset;
  return shifted < -1 ? -1 : shifted >= s.levels ? s.levels - 1 : shifted;
}

/// Smoothing, then hysteresis, then offset, for an image of two classes.
/// @param found  the level that the method has found on this frame
/// @param after  becomes `before` of the next frame; may be the same object
/// @return the applied T
CUDASCAN_HD inline int step(const ThresholdHistory &before, int found, const Settings &s,
                            ThresholdHistory &after) {
  const std::int64_t target = static_cast<std::int64_t>(found) << 16;
  ThresholdHistory h = before;
  if (h.frames == 0) {
    h = {1, found, target};
  } else {
    h.frames = 2;  // only 0, 1 and more matter; a count could overflow
    h.state += (target - h.state) * (65536 - s.weight) >> 16;
    const int smoothed = static_cast<int>((h.state + 32768) >> 16);
    const int change = smoothed < h.in_use ? h.in_use - smoothed : smoothed - h.in_use;
    if (change > s.hysteresis) h.in_use = smoothed;
  }
  after = h;
  return with_offset(h.in_use, s);
}

/// The sample that class `i` of `classes` is painted with.
CUDASCAN_HD inline unsigned value_of_class(int i, int classes, bool invert, unsigned white) {
  const unsigned steps = classes - 1, step = invert ? steps - i : i;
  return (2 * step * white + steps) / (2 * steps);
}

/// The largest sample that is at or below a threshold; -1 if there is none.
CUDASCAN_HD inline int last_sample_below(int threshold, Levels levels) {
  // Samples above the largest of their format have the highest level.
  if (threshold >= levels.count - 1) return 65535;
  return ((threshold + 1) << levels.shift) - 1;
}

/// Methods for few levels (threshold::is_small) group the levels of deeper samples into at most
/// this many steps.
inline constexpr int kSteps = 256;
/// How many levels make one step.
CUDASCAN_HD constexpr int levels_per_step(int levels) {
  return (levels + kSteps - 1) / kSteps;
}
/// How many steps there are.
CUDASCAN_HD constexpr int steps_of(int levels) {
  return (levels + levels_per_step(levels) - 1) / levels_per_step(levels);
}
/// The last level of a step.
CUDASCAN_HD constexpr int last_level(int step, int levels) {
  const int last = (step + 1) * levels_per_step(levels) - 1;
  return last < levels ? last : levels - 1;
}

/// Fills in a report from the histogram of the counted samples and the classes - 1 applied
/// thresholds.
void fill_report(Histogram counts, const int *thresholds, int classes, AutothresholdReport &report);

/// Throws for everything that run() refuses.
void check_call(const AutothresholdParams &params, int width, int height, bool deep_in,
                bool same_format);
template <typename In, typename Out>
void check_call(const AutothresholdParams &params, Plane<const In> in, Plane<Out> out) {
  check_planes(in, out);
  check_call(params, in.width, in.height, sizeof(In) > 1,
             sizeof(In) == sizeof(Out) && in.maximum == out.maximum);
}

}  // namespace cudascan::autothreshold
