// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// How hit-or-miss finds masks in packed images. The cells of a mask are covered by rectangles, and
/// a rectangle by four overlapping ones whose sides are powers of two. A plane says where such a
/// rectangle is completely white: it has one bit for each position of the upper left cell. Planes
/// for rectangles of twice the size are computed from two positions in a plane.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/swofilter/window.h"

namespace cudascan::swo::patterns {

/// A bit of a plane that must be 1: the bit at the offset (x, y) from the pixel.
struct Probe {
  std::int8_t x, y;
  std::uint8_t plane;
  bool last;  ///< last of its mask; a pixel is white if all probes of some mask are 1
};

/// A plane that combines an earlier one and the same plane shifted by (x, y).
struct Doubling {
  std::uint8_t from, x, y;
};

struct Plan {
  /// Planes 0 and 1, white and black pixels, come before these.
  static constexpr int kWhite = 0, kBlack = 1;
  std::vector<Doubling> doublings;
  std::vector<Probe> probes;
  int rx = 0, ry = 0;           ///< largest distance of a cell from the pixel
  bool asks_for_black = false;  ///< otherwise plane 1 is not needed

  int planes() const { return 2 + static_cast<int>(doublings.size()); }
};

Plan make_plan(const std::vector<Mask> &);

/// The value of a plane outside the image, unless `border` repeats pixels.
/// @param plane  Plan::kWhite or kBlack
inline bool outside_of(const FilterJob &job, int plane) {
  if (job.border == SwoFilterBorder::clip) return true;  // always fits
  return (job.outside != 0) == (plane == Plan::kWhite);
}

}  // namespace cudascan::swo::patterns
