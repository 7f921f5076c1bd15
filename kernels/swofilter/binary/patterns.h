// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// How hit-or-miss looks for masks in packed images. The cells of a mask are put together from
/// rectangles, and a rectangle from four that may overlap, whose sides are powers of two. Where
/// such a rectangle lies on white only is said by a plane, one bit for each place of its upper left
/// cell; planes of twice the size come from two places of a plane.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/swofilter/window.h"

namespace cudascan::swo::patterns {

/// A bit of a plane that has to be 1: that at (x, y) from the pixel.
struct Probe {
  std::int8_t x, y;
  std::uint8_t plane;
  bool last;  ///< of its mask; the pixel is white if all of some mask are 1
};

/// A plane made from an earlier one, and the same from (x, y) on.
struct Doubling {
  std::uint8_t from, x, y;
};

struct Plan {
  /// Planes 0 and 1, white and black pixels, come before these.
  static constexpr int kWhite = 0, kBlack = 1;
  std::vector<Doubling> doublings;
  std::vector<Probe> probes;
  int rx = 0, ry = 0;           ///< largest distance of a cell from the pixel
  bool asks_for_black = false;  ///< else there is no need of plane 1

  int planes() const { return 2 + static_cast<int>(doublings.size()); }
};

Plan make_plan(const std::vector<Mask> &);

/// What a plane has outside of the image, unless `border` repeats pixels.
/// @param plane  Plan::kWhite or kBlack
inline bool outside_of(const Job &job, int plane) {
  if (job.border == SwoFilterBorder::clip) return true;  // nothing is asked
  return (job.outside != 0) == (plane == Plan::kWhite);
}

}  // namespace cudascan::swo::patterns
