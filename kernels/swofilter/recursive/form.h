// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Finds when a recursive dilation needs no other result of its row and only one of the row above.
///
/// With the cell left of the middle, results grow along a row. So only the last cell of a row above
/// counts, at most at the right edge of the image. For a row that is still input, if its cells are
/// one run across the middle column, all samples up to its last cell count: they are replaced by
/// q(x, y), the largest sample of row y up to column x. If each row above extends at most one step
/// further than the next, only the row directly above counts:
///
///     out(x, y) = max(out(x + step, y - 1), q(x + reach[0], y), q(x + reach[1], y + 1), ...)
///
/// where columns are limited to the last one. The first term includes q(x + step + reach[k + 1], y
/// + k). So unless reach[k] is larger than that, the term of row k counts only at the top of the
/// image. Samples outside the image are in the window of the first pixel of a row, and hence in all
/// results.
///
/// In windows of one column nothing comes from the left, and q is the input.
#pragma once
#include <algorithm>
#include <cstdint>

#include "kernels/swofilter/window.h"

namespace cudascan::swo {

struct RecursiveForm {
  static constexpr int kMostRows = 128, kMostTerms = 4;

  bool exists = false;
  bool sums_up;                   ///< q has all samples up to a column
  int step;                       ///< -1 = no row above counts
  int rows;                       ///< of the window, from the middle on
  std::int16_t reach[kMostRows];  ///< of these; -1 for a row without cells
  int n_terms;                    ///< rows that count everywhere
  std::int16_t terms[kMostTerms] = {};

  /// Of a window with the cell to the left and maybe one in the row above, with `step`. Instead of
  /// the input it takes the largest samples of what is still input. The cell to the left is outside
  /// for the first pixel of a row.
  explicit RecursiveForm(int step)
      : exists(true), sums_up(true), step(step), rows(1), reach{0}, n_terms(1) {}
  RecursiveForm(const Mask &mask, SwoFilterBorder border) {
    const int rx = mask.rx(), ry = mask.ry();
    sums_up = mask.width > 1;
    // The cells of a row if they are one run that contains the middle column or begins there.
    struct Cells {
      bool none, run;
      int first, last;
    };
    const auto cells_of = [&](int y) {
      Cells cells{true, true, 0, -1};
      for (int x = -rx; x <= rx; ++x) {
        if (mask.at(x + rx, y + ry) != Mask::on) continue;
        if (cells.none) cells.first = x;
        if (!cells.none && cells.last != x - 1) cells.run = false;
        cells.none = false;
        cells.last = x;
      }
      if (!cells.none && (cells.first > 0 || cells.last < 0)) cells.run = false;
      return cells;
    };
    for (int y = -ry; y <= ry; ++y)
      if (y >= -1 && !cells_of(y).run) return;
    const Cells middle = cells_of(0);
    if (sums_up && (middle.none || middle.first > -1)) return;
    step = ry > 0 ? cells_of(-1).last : -1;
    for (int y = -2; y >= -ry; --y)
      if (!cells_of(y).none && (step < 0 || cells_of(y).last > step * -y)) return;
    if (border == SwoFilterBorder::constant && !sums_up && step < 0) return;

    rows = ry + 1;
    for (int k = 0; k < rows; ++k) reach[k] = static_cast<std::int16_t>(cells_of(k).last);
    n_terms = 0;
    for (int k = 0; k < rows; ++k) {
      const bool covered =
          step >= 0 && k + 1 < rows && reach[k + 1] >= 0 && reach[k] <= step + reach[k + 1];
      if (reach[k] < 0 || covered) continue;
      if (n_terms == kMostTerms) return;
      terms[n_terms++] = static_cast<std::int16_t>(k);
    }
    exists = true;
  }
};

}  // namespace cudascan::swo
