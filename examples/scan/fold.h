// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Finds the fold of an open book by its shadow. Lengths in mm are for a sheet 297 mm high; they
/// grow and shrink with it. Lines are tried within 15 % of the width of the sheet around its
/// middle, with slopes up to 6 degrees.
///
/// In each column the largest level of 5 mm takes away lines of text, but not a fold. The
/// line is cut into 40 segments. A segment is dark if its mean is 2.5 % below the levels on either
/// side: the largest of the means of parallel segments at 2.5 to 15 mm. The darkest line is the
/// fold
/// - if 70 % of the segments between its first and its last dark one are dark, and these are 60 %
///   of the sheet or more;
/// - if there is paper on both sides of it, equally light, in half of the segments: within 12 mm it
///   does not become darker again, as pictures do; and if most neighbours of these segments are
///   about equally dark;
/// - if it begins above and ends below the print, or at the ends of the sheet: rules between
///   columns and in tables do not. If there is shade next to the line, which becomes less within
///   1.5 mm, a segment may be missing at its ends: rules have none, and bars are even.
#pragma once
#include <utility>
#include <vector>

#include "book_copy.h"
#include "image.h"

namespace cudascan::scan {

/// It keeps its memory for the next page.
class FoldFinder {
 public:
  /// @return whether there is one; `line` is set to it
  bool find(const BookCopy &copy, UprightLine &line);

 private:
  struct Candidate {
    UprightLine line;
    double score;
  };

  struct Shade {
    bool is_even = false;  ///< along the line
    bool is_soft = false;  ///< across the line
  };

  void take_upright();
  void sum_segments(double slope);
  double drop(int segment, int x) const;
  double score_at(int x) const;
  bool can_measure(int x) const;
  std::vector<Candidate> best_lines();
  UprightLine refined(const UprightLine &line);
  std::pair<int, int> print_around(const UprightLine &line) const;
  bool has_paper_beside(int segment, int x) const;
  Shade look_at(int x, int first, int last) const;
  bool is_fold(const UprightLine &line);
  const int *sums_of(int segment) const {
    return sums_.data() + static_cast<std::size_t>(segment) * (to_ - from_) - from_;
  }

  const BookCopy *copy_ = nullptr;
  Image upright_;          ///< levels without lines of text
  int from_ = 0, to_ = 0;  ///< columns that have sums
  std::vector<int> sums_;  ///< of segments of columns along a slope
  std::vector<int> rows_;  ///< of each segment
};

}  // namespace cudascan::scan
