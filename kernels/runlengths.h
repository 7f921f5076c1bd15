// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Lengths of the runs of ink in a plane. A run is a maximal row or column of neighbouring ink
/// samples; a sample at or below a level is ink. Widths of strokes are typical lengths of runs.
///
/// Runs are measured inside a part of the plane. One that touches the edge of the part is left out,
/// for it may be longer than it looks; but if kRunBins - 1 pixels or more are inside, it counts.
///
/// Exactness: CPU and CUDA results are identical.
#pragma once
#include <array>
#include <cstdint>

#include "kernels/exec.h"
#include "kernels/histogram.h"

namespace cudascan {

/// Lengths that are counted apart; see RunLengths.
inline constexpr int kRunBins = 256;

struct RunLengthParams {
  Rectangle roi = {};  ///< only runs inside are counted
  unsigned level = 0;  ///< samples at or below it are ink
  /// Measures a quarter of the lines: rows whose number is a multiple of 4; and every fourth group
  /// of columns, the one in the middle of the roi among them, where a group begins at a multiple of
  /// 32. Enough for the strokes of a page, and faster.
  bool sparse = false;
};

/// Counts of runs: the index is the length, and the last entry is for this length or a larger one.
struct RunLengths {
  std::array<std::uint32_t, kRunBins> rows{};     ///< of horizontal runs
  std::array<std::uint32_t, kRunBins> columns{};  ///< of vertical runs
};

/// Counts the runs of a plane.
/// @param counts  the result; on Cuda it is valid after exec.synchronize()
/// @throws BadSetting for a roi that check_roi() refuses and for an invalid plane; Error when CUDA
///         fails
CUDASCAN_API void count_runs(Cpu &, Plane<const std::uint8_t> in, const RunLengthParams &,
                             RunLengths &counts);
CUDASCAN_API void count_runs(Cpu &, Plane<const std::uint16_t> in, const RunLengthParams &,
                             RunLengths &counts);
CUDASCAN_API void count_runs(Cuda &, Plane<const std::uint8_t> in, const RunLengthParams &,
                             RunLengths &counts);
CUDASCAN_API void count_runs(Cuda &, Plane<const std::uint16_t> in, const RunLengthParams &,
                             RunLengths &counts);

/// The median length of the runs of both directions, interpolated: the runs of length n are taken
/// as spread evenly from n - 1/2 to n + 1/2. 0 if there are no runs.
/// @param shortest  shorter runs are not counted, such as those of noise
CUDASCAN_API double median_run(const RunLengths &, int shortest = 1);

}  // namespace cudascan
