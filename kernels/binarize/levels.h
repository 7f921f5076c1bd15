// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Levels and sizes from histograms, on the CPU.
#pragma once
#include <vector>

#include "kernels/binarize/formula.h"
#include "kernels/runlengths.h"

namespace cudascan::binarize {

/// What the details of a page tell.
struct PageDetails {
  bool blank;
  int third, level;  ///< the third largest detail, and the level that blank pages do not reach
  int noise;         ///< noise_of()
};

/// @param counts  a histogram of details, of all levels
PageDetails judge_details(const std::vector<std::uint32_t> &counts);

/// @param counts  a histogram of darkness, of all levels
/// @param noise   noise_of()
DarknessLevels find_levels(const std::vector<std::uint32_t> &counts, int noise);

/// The median run, Q8. Runs of one pixel do not count, nor do those of the last bin.
int find_median_run(const RunLengths &counts);

}  // namespace cudascan::binarize
