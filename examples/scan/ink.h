// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What is printed or written on a page, without specks, dirt, and what shines through from the
/// other side. It tells blank pages, and where the content of the others is.
///
/// A copy at about 150 dots per inch is compared with the level of the paper around: a closing by
/// 21 mm of means of 1 mm, and their mean over 5 mm. Ink is darker than the paper by 30 % or, on
/// noisy pages, by 20 % and 2.5 standard deviations of the noise; dark areas are ink as a whole.
/// Pieces of ink count if they are 1 mm long, have an area of 0.2 square millimetres, and do not
/// lie within 2.5 mm of the border or of the edge of the image; and if they are part of a group,
/// with gaps up to 2.5 mm, of three or with one that is 1.5 mm long, as digits of 8 points are.
/// What is paler counts as shining through.
#pragma once
#include <vector>

#include "border.h"
#include "box.h"
#include "image.h"
#include "paper_levels.h"

namespace cudascan::scan {

/// Finds the ink of pages. It keeps its memory for the next page.
class Ink {
 public:
  /// @param border  of this page, which is no ink
  void find(Pixels &pixels, const Border &border);
  bool is_blank() const { return kept_.empty(); }
  /// The next page has not been looked at.
  void forget() { kept_.clear(); }
  /// The box of the ink, once the page is turned back by the angle; the whole page if it is blank.
  Box box(const Image &page, double angle) const;

 private:
  struct Run {
    int begin, end, y;  ///< pixels of the copy
    int piece;
  };

  void measure_paper(Pixels &pixels);
  double noise() const;
  void find_runs(const Border &border);
  int number_pieces();
  void keep_large(double mm, const Border &border);

  int by_ = 1;    ///< pixels of the page on each side of one of the copy
  int cell_ = 1;  ///< pixels of the copy on each side of one of the paper
  Image copy_, cells_;
  PaperLevels paper_;
  std::vector<Run> runs_;
  std::vector<Run> kept_;  ///< those of pieces that count
};

}  // namespace cudascan::scan
