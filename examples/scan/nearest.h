// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <cstdint>
#include <vector>

#include "cell_bits.h"

namespace cudascan::scan {

/// The level of the nearest paper for each cell of the border. It is passed on from cell to cell,
/// forwards and backwards, as in distance transforms (A. Rosenfeld and J. Pfaltz, "Sequential
/// operations in digital picture processing", JACM 13(4), 1966), with steps of 3 and 4 (G.
/// Borgefors, "Distance transformations in digital images", CVGIP 34(3), 1986).
class NearestLevels {
 public:
  /// Gives the cells of the border the level of the nearest one that is none: the brightest of the
  /// cells up to two to either side of it, so that no letter is taken for it. All are 0 if all
  /// cells are border.
  /// @param border  with a frame of 0
  /// @param edge    the cells next to the border, by a side or a corner
  /// @param levels  rows of border.words() * 64 levels, that of cell x at x + 1, 0 in the frame,
  ///                around it, and in kNear rows before and after
  void fill(const CellBits &border, const CellBits &edge, std::uint8_t *levels);

  static constexpr int kNear = 2;  ///< cells to either side that give the level of the paper

 private:
  void start(const CellBits &border, const CellBits &edge, std::uint8_t *levels);

  int width_ = 0, height_ = 0;
  /// For each cell, and in a frame around them: the distance, a number that decides between equal
  /// distances, and the level.
  std::vector<std::uint32_t> nearest_;
  std::vector<std::uint32_t> limits_;    ///< of a row
  std::vector<std::uint8_t> brightest_;  ///< of columns of cells
};

}  // namespace cudascan::scan
