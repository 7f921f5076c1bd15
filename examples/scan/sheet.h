// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <cstdint>
#include <vector>

#include "image.h"

namespace cudascan::scan {

/// The part of each row and column that is inside the dark surround of a sheet, if it has one. It
/// keeps its memory for the next page.
class Sheet {
 public:
  Sheet() = default;
  explicit Sheet(const Image &page) { measure(page); }

  /// @param page  8 bits
  void measure(const Image &page);

  int left(int y) const { return left_[y]; }
  int right(int y) const { return right_[y]; }
  int top(int x) const { return top_[x]; }
  int bottom(int x) const { return bottom_[x]; }
  /// Whether the pixel is inside as far as its column says.
  bool has(int x, int y) const { return y >= top_[x] && y < bottom_[x]; }
  /// A level that a third of the page reaches.
  int paper() const { return paper_; }

 private:
  void find_paper(const Image &page);
  void find_sides(const Image &page);
  /// Sets to how many pixels of each column are dark, from its first or last one on.
  void count_dark(const Image &page, bool from_top, std::vector<int> &counts);

  int paper_ = 0;
  std::vector<int> left_, right_, top_, bottom_;
  std::vector<int> space_;             ///< for extremes
  std::vector<std::uint8_t> sampled_;  ///< rows
  std::vector<std::uint8_t> dark_;     ///< of each column: 1 = as far as was looked
  std::vector<std::uint8_t> counts_;   ///< of dark pixels in some rows
};

}  // namespace cudascan::scan
