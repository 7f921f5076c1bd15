// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Finds photographs and colour on a page, so that they keep their levels while text becomes black.
///
/// Pictures, by seeds that grow in a mask, as in D. S. Bloomberg, "Multiresolution morphological
/// approach to document image analysis", ICDAR 1991. There a closing that letters do not survive
/// makes the mask of halftones on black and white pages. Here it works on gray levels:
/// - The page is reduced to 75 dots per inch; each level is divided by that of the paper, a closing
///   by 150 mm. Halftone dots become grays.
/// - A closing by 3 mm removes all that is narrower: letters, rules, also large headings. What
///   stays below 0.84 of the paper is the mask, below 0.76 a seed. Pieces of the mask with gaps up
///   to 4 mm belong together.
/// - A group is a picture if it has at least 80 mm^2 and is 8 mm wide and high, 10 mm^2 and 3 % of
///   it are seeds, and 60 mm^2 and 8 % of it have middle levels, 0.2 to 0.84 of the paper (filled
///   boxes and logos have fewer).
/// - And it must end or change abruptly, as shade does not: where the closed levels 1 mm to the
///   left and right, and above and below, differ by more than 30 of 255 together it is steep. At
///   least 0.8 mm^2 of steepness are needed for each mm around the box.
/// - A picture that fills 0.4 of its box is the box: skies are as bright as paper. Others are their
///   pieces, without holes.
///
/// Colour: each of red, green and blue is divided by its own level of the paper, so paper has none,
/// yellow or not. Where the means over 1 mm differ by more than 40 of 255 there is colour; the
/// fringes of letters that a scanner adds cancel each other in means. Pieces from 3 mm^2 on count,
/// such as stamps, coloured ink, marker, if they end abruptly: differences above 25 on 0.2 mm^2 for
/// each mm around the box. Brown shade does not. Within 3 mm of such a piece, 22 of 255 are enough.
///
/// All numbers are integers, so each machine finds the same.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "box.h"
#include "kernels/exec.h"
#include "levels.h"
#include "paper_levels.h"

namespace cudascan::scan {

/// What a cell of a page is, 0 = text or paper.
inline constexpr std::uint8_t kPicture = 1, kInk = 2;

/// The parts of a page that keep their levels, in square cells.
struct KeptParts {
  int by = 1;  ///< pixels on each side of a cell
  int width = 0, height = 0;
  std::vector<std::uint8_t> cells;  ///< 0, kPicture or kInk
  double pictures = 0;              ///< share of the page that is pictures, 0..1
  double colour = 0;                ///< share of the page that is coloured, in pictures or not
  std::vector<Box> boxes;           ///< of the pictures, in pixels
  bool has_ink = false;             ///< whether there is colour that is not in a picture

  bool any() const { return pictures > 0 || has_ink; }
  /// Whether the pixel is kept.
  bool has(int x, int y) const;
  /// Whether the cell of a row is kept.
  const std::uint8_t *row(int y) const {
    return cells.data() + static_cast<std::size_t>(y) * width;
  }
};

/// It keeps its memory for the next page.
class Pictures {
 public:
  /// @param page  8 bits, without the border of the scanner
  const KeptParts &find(const PageLevels &page);

 private:
  void divide_by_paper(const PageLevels &page);
  template <typename Levels>
  int slope(const Levels &levels, int cell) const;
  void find_pictures();
  void find_colour();
  void set_around(std::vector<std::uint8_t> &cells, int cell, double mm, std::uint8_t value) const;

  Cpu cpu_{1};
  PaperLevels paper_;
  PageLevels cells_;  ///< levels relative to the paper
  Image gray_, closed_, space_, reduced_;
  std::vector<std::uint8_t> coloured_, chroma_;
  double mm_ = 1;  ///< cells
  KeptParts parts_;
};

}  // namespace cudascan::scan
