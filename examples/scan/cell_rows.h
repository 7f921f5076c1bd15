// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Loops over rows of small cells of a page, compiled for several instruction sets. Cells that tell
/// yes or no are 1 and 0.
#pragma once
#include <cstddef>
#include <cstdint>

namespace cudascan::scan {

/// sums[x] += row[x].
void add_row(const std::uint8_t *row, int width, std::uint16_t *sums);

/// The means of so many rows, rounded down.
/// @param sums  of the rows, below 2^12
/// @param rows  1..16
void mean_rows(const std::uint16_t *sums, int width, int rows, std::uint8_t *to);

/// Which cells are below a level.
void find_below(const std::uint8_t *levels, std::uint8_t level, std::size_t count,
                std::uint8_t *to);

}  // namespace cudascan::scan
