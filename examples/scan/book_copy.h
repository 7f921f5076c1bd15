// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// A reduced copy of an image that may show an open book: where the sheet and its ink are.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "image.h"
#include "paper_levels.h"
#include "sheet.h"

namespace cudascan::scan {

/// A straight line from the top of a copy to its bottom.
struct UprightLine {
  double middle = 0;  ///< x in the middle row of the sheet
  double slope = 0;   ///< cells to the right a row
};

/// The slopes that are tried: up to 6 degrees.
inline constexpr double kSteepest = 0.105;

/// A copy of 300 to 600 rows. It keeps its memory for the next page.
class BookCopy {
 public:
  /// Which rows of the sheet.
  enum class Rows { all, upper, lower };

  /// @return why it cannot be an open book, a few words, or ""
  std::string look(const Image &page);

  int by() const { return by_; }  ///< pixels of the page on each side of a cell
  Plane<const std::uint8_t> levels() const { return copy_.plane<const std::uint8_t>(); }
  const std::uint8_t *ink(int y) const {  ///< 1 = darker than the paper around
    return ink_.data() + static_cast<std::size_t>(y) * copy_.width;
  }
  /// The sheet. Without a dark surround it is the whole image.
  int left() const { return left_; }
  int right() const { return right_; }
  int top() const { return top_; }
  int bottom() const { return bottom_; }
  int width() const { return right_ - left_; }
  int height() const { return bottom_ - top_; }
  double middle_row() const { return (top_ + bottom_) / 2.; }
  int paper() const { return paper_level_; }
  /// By how much a line of that slope is further to the right in a row than in the middle.
  int shift(double slope, int y) const;
  /// Cells on a sheet that is 297 mm high, at least 1.
  int mm(double length) const;
  /// Cells of ink in the columns along a slope.
  void count_ink(double slope, int from, int to, std::vector<int> &counts,
                 Rows rows = Rows::all) const;

 private:
  bool find_sheet();
  void find_ink();

  int by_ = 1;
  Image copy_;
  PaperLevels paper_;
  Sheet sheet_;
  std::vector<std::uint8_t> ink_;
  int left_ = 0, right_ = 0, top_ = 0, bottom_ = 0;
  int paper_level_ = 255;
  double paper_share_ = 0;  ///< of cells that are as light as the paper
};

}  // namespace cudascan::scan
