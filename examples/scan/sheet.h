// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <cstdint>
#include <vector>

#include "common/plane.h"

namespace cudascan::scan {

/// The part of each row and column that is inside the dark surround of a sheet, if it has one.
class Sheet {
 public:
  explicit Sheet(const Plane<const std::uint8_t> &page);

  int left(int y) const { return left_[y]; }
  int right(int y) const { return right_[y]; }
  /// Whether the pixel is inside as far as its column says.
  bool has(int x, int y) const { return y >= top_[x] && y < bottom_[x]; }
  /// Whether all columns say that of a row.
  bool has_row(int y) const { return y >= lowest_top_ && y < highest_bottom_; }
  /// A level that a third of the page reaches.
  int paper() const { return paper_; }

 private:
  int paper_;
  int lowest_top_, highest_bottom_;
  std::vector<int> left_, right_, top_, bottom_;
};

}  // namespace cudascan::scan
