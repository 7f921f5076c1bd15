// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <cmath>
#include <numbers>

namespace cudascan::scan {

/// Where points of a page are after it was turned back about its centre.
class TurnedBack {
 public:
  /// @param angle  degrees counter-clockwise by which the page was turned
  TurnedBack(double width, double height, double angle)
      : x_(width / 2),
        y_(height / 2),
        cosine_(std::cos(angle * std::numbers::pi / 180)),
        sine_(std::sin(angle * std::numbers::pi / 180)) {}
  double x(double x, double y) const { return x_ + (x - x_) * cosine_ - (y - y_) * sine_; }
  double y(double x, double y) const { return y_ + (x - x_) * sine_ + (y - y_) * cosine_; }

 private:
  double x_, y_, cosine_, sine_;
};

}  // namespace cudascan::scan
