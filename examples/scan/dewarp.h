// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Straightens the curved lines of text of an open book.
///
/// The slope of the lines is measured in parts of the page, as the angle of the page is: by sums
/// along slanted lines (profile.h), in strips of its width, within windows of rows. A smooth slope
/// S(x, y) goes through these slopes: cubic B-splines across the page, a parabola from top to
/// bottom, by least squares with bending as a penalty; slopes that differ much count less (Huber).
/// Lines are curves with dy/dx = S. Then the slopes that are left along these curves are measured
/// in wider strips with finer steps, and added; twice. Each column of the page is then shifted so
/// that the curves become level lines. What is upright stays upright.
///
/// A page stays as it is if fewer than four sevenths of its parts have lines, if the lines are
/// straight already, or if the sums along the lines of the straightened copy are not clearly
/// stronger than those of the copy.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "image.h"
#include "profile.h"

namespace cudascan::scan {

/// It keeps its memory for the next page.
class Dewarp {
 public:
  /// @return whether the page was changed
  bool straighten(Image &page);
  /// Shifts the columns of another plane of the page that was changed last.
  void apply(Image &plane);
  /// Why it was not, a few words.
  const std::string &why_not() const { return why_not_; }
  /// The largest shift of a column at a line of text, in pixels of the page.
  double largest() const { return largest_; }

 private:
  struct Slope {
    double x, y;  ///< -1..1
    double slope, weight;
  };

  static constexpr int kKnots = 6, kAcross = kKnots + 3, kDown = 3, kTerms = kAcross * kDown;
  static constexpr int kColumns = 65, kRows = 65;  ///< of the grid of shifts

  void measure(int strips, int steps, double step);
  bool fit();
  double slope_at(double x, double y) const;
  void trace();
  double shift_at(double column, double row) const;
  double gain();
  template <typename T>
  void shift_columns(const Plane<const T> &from, double by, const Plane<T> &to) const;

  Image copy_, space_;
  int squeeze_ = 1, by_ = 1;  ///< pixels of the page in one of the copy: across and down
  std::vector<Slope> slopes_;
  std::array<double, kTerms> terms_{};
  std::vector<double> shifts_;  ///< rows of the copy, at kRows x kColumns places
  double largest_ = 0;
  std::string why_not_;
};

}  // namespace cudascan::scan
