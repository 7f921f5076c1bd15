// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What cudascan-scan measures and changes on pages in device memory. The program has the same for
/// pages in host memory (examples/scan/host_pixels.h, lines.h), with the same results.
///
/// All planes are in device memory. Every function only queues work, unless it says that it waits,
/// and throws Error when CUDA fails.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/exec.h"

namespace cudascan::pages {

/// The means of blocks of `by_x` times `by_y` samples, rounded down, of the upper 8 bits of each
/// sample. A plane of n times m blocks has n times m samples in `out`; samples of `in` to the right
/// of them and below are left out.
/// @param by_x, by_y  1..64
CUDASCAN_API void queue_means(Cuda &, Plane<const std::uint8_t> in, int by_x, int by_y,
                              Plane<std::uint8_t> out);
CUDASCAN_API void queue_means(Cuda &, Plane<const std::uint16_t> in, int by_x, int by_y,
                              Plane<std::uint8_t> out);

/// Which levels a page has.
struct LevelKinds {
  std::uint32_t first;    ///< the first sample
  std::uint32_t differs;  ///< 1 = some other sample is not equal to it
  std::uint32_t between;  ///< 1 = some sample is neither 0 nor the largest of the type
};

/// Waits for the result.
CUDASCAN_API LevelKinds level_kinds(Cuda &, Plane<const std::uint8_t> in);
CUDASCAN_API LevelKinds level_kinds(Cuda &, Plane<const std::uint16_t> in);

/// Gives parts of a page other levels. The page is divided into square cells; the last ones reach
/// to its ends. In marked cells every sample gets the level of the cell.
/// @param cell    samples on each side of a cell
/// @param marked  a sample for each cell, 0 = stays
/// @param levels  of 8 bits, as large as `marked`
CUDASCAN_API void queue_fill(Cuda &, int cell, Plane<const std::uint8_t> marked,
                             Plane<const std::uint8_t> levels, Plane<std::uint8_t> page);
CUDASCAN_API void queue_fill(Cuda &, int cell, Plane<const std::uint8_t> marked,
                             Plane<const std::uint8_t> levels, Plane<std::uint16_t> page);

/// Multiplies a page by the gains of blocks, interpolated linearly between their centres, and
/// limits the result to white.
/// @param gains  of blocks of `by` times `by` samples: 1 is 1 << 10; at most 8160
CUDASCAN_API void queue_gains(Cuda &, int by, Plane<const std::uint16_t> gains,
                              Plane<std::uint8_t> page);
CUDASCAN_API void queue_gains(Cuda &, int by, Plane<const std::uint16_t> gains,
                              Plane<std::uint16_t> page);

/// Numbers of the pixels of a page, column after column.
struct ColumnNumbers {
  const std::int8_t *data;
  int width, height;  ///< width is at most kMostColumns
  int stride;         ///< numbers from a column to the next
};
inline constexpr int kMostColumns = 512;

/// Sums of the numbers along lines, and what is made of them. A line is a row of numbers whose
/// columns are shifted: the column x by lround((x - width / 2.) * slope) numbers downwards. `slope`
/// is limited so that no shift is above `margin`.
///
/// The results are sums of squares of the sums.
struct HalfSquares {
  std::int64_t left, right;  ///< of the halves of the page
  std::int64_t top, bottom;  ///< of the upper and the lower half of all lines of the page
  /// Of all lines, without those within `around` of the strongest, and without those within
  /// `around` of the strongest of the rest. The first of equally strong ones is taken.
  std::int64_t most;
};
struct PartSquares {
  std::int64_t level[4];  ///< of eighths, quarters and halves of the page, and of the page
};

/// Copies numbers from host to device memory, where they stay until the next call on this executor.
/// The host's may be changed at once.
/// @return them in device memory
CUDASCAN_API ColumnNumbers upload(Cuda &, const ColumnNumbers &host);

/// For each slope. They wait for the results.
/// @param numbers  in device memory; every sum of them along a line fits into 16 bits
CUDASCAN_API std::vector<HalfSquares> half_squares(Cuda &, const ColumnNumbers &numbers, int margin,
                                                   int around, const std::vector<double> &slopes);
CUDASCAN_API std::vector<PartSquares> part_squares(Cuda &, const ColumnNumbers &numbers, int margin,
                                                   const std::vector<double> &slopes);

}  // namespace cudascan::pages
