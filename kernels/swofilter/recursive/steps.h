// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The cells of any window by what they read: results that are already written, or the input.
///
/// As each result includes those that its window contains, a result two steps away is included
/// without its own cell. So cells that are the sum of two others are left out, unless a path over
/// them could leave the image on both sides.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/swofilter/window.h"

namespace cudascan::swo {

/// The result at (x + this->x, y - rows).
struct RecursiveCell {
  std::int8_t x, rows;
};

struct RecursiveSteps {
  static constexpr int kMostReach = 15, kMostAbove = kMostReach * (2 * kMostReach + 1);

  std::vector<RecursiveCell> above;  ///< in rows above that of the pixel
  std::vector<int> left;             ///< distances in the row of the pixel, the nearest first
  int rows = 0;                      ///< that `above` reaches up
  /// Extent of all cells of written results.
  int first = 0, last = 0, top = 0;
  Mask rest;  ///< the cells of samples that are still input

  /// @param mask   of at most 31 rows and columns
  /// @param width  of the image
  RecursiveSteps(const Mask &mask, int width) : rest(mask) {
    std::vector<RecursiveCell> all;
    rest.rectangle = false;
    for (int y = -mask.ry(); y <= 0; ++y)
      for (int x = -mask.rx(); x <= (y == 0 ? -1 : mask.rx()); ++x) {
        if (mask.at(x + mask.rx(), y + mask.ry()) != Mask::on) continue;
        rest.cells[(y + mask.ry()) * mask.width + x + mask.rx()] = Mask::off;
        all.push_back({static_cast<std::int8_t>(x), static_cast<std::int8_t>(-y)});
        first = std::min(first, x);
        last = std::max(last, x);
        top = std::max(top, -y);
      }
    const auto is_cell = [&](int x, int rows) {
      return std::any_of(all.begin(), all.end(), [&](const RecursiveCell &cell) {
        return cell.x == x && cell.rows == rows;
      });
    };
    const auto is_sum = [&](const RecursiveCell &sum) {
      return width >= mask.width && std::any_of(all.begin(), all.end(), [&](const auto &cell) {
               return is_cell(sum.x - cell.x, sum.rows - cell.rows);
             });
    };
    for (const RecursiveCell &cell : all) {
      if (is_sum(cell)) continue;
      if (cell.rows == 0)
        left.insert(left.begin(), -cell.x);
      else
        above.push_back(cell);
      rows = std::max<int>(rows, cell.rows);
    }
  }

  /// How far a row must stay behind the one above it when rows advance by `columns` at a time.
  int lag_of(int columns) const {
    int lag = 0;
    for (const RecursiveCell &cell : above)
      lag = std::max(lag, (columns + cell.x + cell.rows - 1) / cell.rows);
    return lag;
  }
  /// The extremum of the samples that are still input.
  FilterJob job_of_rest(const FilterJob &job) const {
    FilterJob of_rest = job;
    of_rest.op = job.op == SwoFilterOperator::recursive_erode ? SwoFilterOperator::erode
                                                              : SwoFilterOperator::dilate;
    of_rest.masks = {rest};
    return of_rest;
  }
};

}  // namespace cudascan::swo
