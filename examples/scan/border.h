// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The dark border of a scan: what the scanner shows around a sheet, wedges that turning has left,
/// fingers and torn holes at the edge.
///
/// A copy of about 300 cells across is enough, with the cells at the edges as dark as the outermost
/// quarter of them, so that strips thinner than a cell count. Cells are dark below a share of the
/// level of the paper: 0.2, 0.35, 0.5, then 0.6. Dark pieces belong to the border
/// - if they are connected to an edge of the image, or to the border found so far,
/// - through parts that are nowhere thinner than 2 mm, or above 0.35 than 2 mm and two cells, or,
///   up to 0.35, through strips along the edge that are at least 10 mm long, so that letters and
///   rules that touch the edge or the border stay;
/// - and if it becomes bright at once where they end: three cells further, the median is above the
///   share by 0.2. Shade on a page ends gradually, and there may be text in it.
/// A page stays as it is if what is inside the border is not mainly one piece: then it is white on
/// black, and not a sheet in its surround.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "box.h"
#include "cell_bits.h"
#include "image.h"
#include "nearest.h"
#include "pixels.h"

namespace cudascan::scan {

/// Finds borders and whitens them. It keeps its memory for the next page.
class Border {
 public:
  /// @param copies  those that Pixels::look() makes; by_x is a multiple of by_y
  /// @return the share of the page that is border, 0..1; 0 = there is none
  double find(const Image &page, const Copies &copies, int by_x, int by_y);
  /// Gives the border the level of the paper next to it, so that no step of the processing sees an
  /// edge there; pages in black and white get white. Sets the content of the page.
  void whiten(Pixels &pixels);
  /// Whether the pixel of the page, or the nearest one of it, is border.
  bool has(int x, int y) const {
    if (share_ == 0) return false;
    return border_.has(std::clamp(x / cell_, 0, border_.width() - 1),
                       std::clamp(y / cell_, 0, border_.height() - 1));
  }
  /// The box of what is inside the border, once the page is turned back by the angle. It is the
  /// whole page if there is no border.
  Box inside(const Image &page, double angle) const;
  /// Pixels on each side of the square parts that has() tells apart.
  int cell() const { return cell_; }
  /// The next page has not been looked at.
  void forget() { share_ = 0; }

 private:
  /// Numbers for the cells. Those outside are 0 where they may be read: around rows, and in kNear
  /// rows before and after.
  struct Cells {
    std::uint8_t *row(int y) { return at.data() + (y + NearestLevels::kNear) * stride + 1; }
    const std::uint8_t *row(int y) const {
      return at.data() + (y + NearestLevels::kNear) * stride + 1;
    }
    void shape(int new_width, int new_height);
    Plane<const std::uint8_t> plane() const { return {row(0), width, height, stride}; }
    int width = 0, height = 0;
    std::ptrdiff_t stride = 0;
    std::vector<std::uint8_t> at;
  };

  void average(const Image &copy, int rows);
  void look_at_edges(const Edges &edges);
  int paper() const;
  bool touches_edge(int dark) const;
  void add_strips(int length, int deep);
  bool add_pieces(int bright);
  bool ends_bright(const CellRun *begin, const CellRun *end, int bright);
  void grow(int dim);
  bool is_sheet_inside();
  void fill();

  double share_ = 0;  ///< of the page
  int cell_ = 1;      ///< pixels on each side of a cell
  Cells levels_;      ///< means; in the border, at last, the levels of the paper next to it
  Cells marks_;       ///< 1 = border
  std::vector<std::uint16_t> sums_;  ///< of rows
  CellBits dark_;                    ///< below the share that is looked at
  CellBits thick_;                   ///< dark, thick enough, and no border yet
  CellBits border_;
  CellBits closed_;  ///< border, or outside of the page
  CellBits inside_;  ///< the rest of the page
  CellBits near_, ring_, space_;
  CellPieces pieces_;
  NearestLevels nearest_;
};

}  // namespace cudascan::scan
