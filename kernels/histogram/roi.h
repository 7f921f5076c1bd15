// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Histograms on the CPU for other operators.
#pragma once
#include "kernels/histogram.h"

namespace cudascan {

/// The part of a rectangle inside a plane of this size, with numbers instead of zeros for the whole
/// plane.
/// @param roi  one that check_roi() accepts
Rectangle clip_to_plane(const Rectangle &roi, int width, int height);

/// Counts samples run by run, in one thread.
template <typename T>
class LevelCounter {
 public:
  explicit LevelCounter(const Levels &levels);
  void add(const T *samples, int n);
  /// Moves the counts of all levels of the format to an array and resets them.
  void take(std::uint32_t *counts);

 private:
  Levels levels_;
  int size_, n_tables_, stride_;
  std::vector<std::uint32_t> tables_;
};

/// counts[i] is the number of samples of level i in the rectangle, for all levels of the format.
/// @throws BadSetting for a roi that check_roi() refuses
template <typename T>
Histogram count_levels(Cpu &cpu, Plane<const T> in, const Rectangle &roi);

}  // namespace cudascan
