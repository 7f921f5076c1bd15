// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The cells of any window by what they read: results that are already written, or the input.
///
/// As each result includes those that its window contains, cells that are sums of others are left
/// out: the result there is included on the way over the others. If both ends are inside an image
/// that is at least as wide as the window, some order of steps stays inside: first to the left in
/// the right half, to the right in the left half.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdlib>
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
    // In an order like that, sums inside the window are reached over sums inside the window.
    bool reached[kMostReach + 1][2 * kMostReach + 1] = {};
    const auto is_reached = [&](int x, int rows) {
      return rows >= 0 && std::abs(x) <= kMostReach && reached[rows][x + kMostReach];
    };
    const auto is_sum = [&](int x, int rows) {
      return std::any_of(all.begin(), all.end(), [&](const RecursiveCell &cell) {
        return is_reached(x - cell.x, rows - cell.rows);
      });
    };
    for (const RecursiveCell &cell : all) reached[cell.rows][cell.x + kMostReach] = true;
    for (int y = 0; y <= top; ++y)
      for (int x = kMostReach; x >= -kMostReach; --x)
        if (is_sum(x, y)) reached[y][x + kMostReach] = true;
    for (const RecursiveCell &cell : all) {
      if (width >= mask.width && is_sum(cell.x, cell.rows)) continue;
      if (cell.rows == 0)
        left.insert(left.begin(), -cell.x);
      else
        above.push_back(cell);
      rows = std::max<int>(rows, cell.rows);
    }
  }

  /// Whether the cell to the left and one in the row above, not to the left of it, are enough.
  bool follow_lines(int width) const {
    return width >= rest.width && left == std::vector{1} &&
           (above.empty() || (above.size() == 1 && above[0].rows == 1 && above[0].x >= 0));
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

/// Sums of distances that are the smallest of their residue modulo the first distance (Apery set),
/// but for that of no distance, if less than `end`.
inline std::vector<int> smallest_sums(const std::vector<int> &distances, int end) {
  std::vector<bool> is_sum(end), found(distances.front());
  is_sum[0] = found[0] = true;
  std::vector<int> smallest;
  for (int sum = 1; sum < end; ++sum) {
    for (const int distance : distances)
      if (sum >= distance && is_sum[sum - distance]) is_sum[sum] = true;
    const int residue = sum % distances.front();
    if (is_sum[sum] && !found[residue]) smallest.push_back(sum);
    if (is_sum[sum]) found[residue] = true;
  }
  return smallest;
}

}  // namespace cudascan::swo
