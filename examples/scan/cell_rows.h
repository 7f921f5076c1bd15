// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Loops over rows of small cells of a page, compiled for several instruction sets. Cells that tell
/// yes or no are 1 and 0.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudascan::scan {

/// sums[x] += row[x].
void add_row(const std::uint8_t *row, int width, int *sums);

/// The means of so many rows, rounded down.
/// @param sums  of the rows, below 2^12
/// @param rows  1..16
void mean_rows(const int *sums, int width, int rows, std::uint8_t *to);

/// Which cells are below a level or set already.
void find_below(const std::uint8_t *levels, const std::uint8_t *set, std::uint8_t level,
                std::size_t count, std::uint8_t *to);

/// Clears cells where others are set.
void clear_where(const std::uint8_t *set, std::size_t count, std::uint8_t *cells);

/// Numbers that grow by 1 up to `most` where cells are set, and are 0 elsewhere.
void count_set(const std::uint8_t *cells, int width, std::uint8_t most, std::uint8_t *counts);

/// Numbers that are `most` where cells are set, and fall by 1 down to 0 elsewhere.
void count_since(const std::uint8_t *cells, int width, std::uint8_t most, std::uint8_t *counts);

/// Which numbers are equal to one.
void find_equal(const std::uint8_t *numbers, int width, std::uint8_t number, std::uint8_t *to);

/// Clears cells where others are not set.
void and_with(const std::uint8_t *cells, int width, std::uint8_t *to);

/// Sets cells where numbers are not 0.
void or_with(const std::uint8_t *numbers, int width, std::uint8_t *to);

/// Sets the cells below a level that have a neighbour in one of three rows. The neighbours at both
/// ends are read, too.
void set_next_to(const std::uint8_t *above, const std::uint8_t *here, const std::uint8_t *below,
                 const std::uint8_t *levels, int level, int width, std::uint8_t *to);

/// Where the next cell is that is set, from `from` on; the number of cells if there is none.
std::size_t next_set(const std::vector<std::uint8_t> &cells, std::size_t from);

}  // namespace cudascan::scan
