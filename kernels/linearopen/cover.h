// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// How few extrema give the extremum over a segment, for both backends. A segment has as many
/// samples as pixels, but its steps nearly repeat themselves. So extrema of parts of a line are
/// computed first, those of longer parts from those of shorter ones, and a few parts cover the
/// segment; they may overlap.
///
/// The steps of a digital line are a Sturmian word (Lothaire, "Algebraic Combinatorics on Words",
/// Cambridge University Press, 2002, chapter 2). Parts are its central words: for the neighbours
/// p/q and p'/q' of the slope in the Stern-Brocot tree, a part of q + q' - 1 pixels. A part is the
/// beginning and the end of the next one, is symmetric, and occurs everywhere on the line at
/// distances of q and q' pixels. So parts of one length cover a segment but for its ends, which
/// shorter parts cover. The number of lengths and that of parts grow with the logarithm of the
/// length. Rounding away from 0 may disturb the word at the centre of a segment: that is two more
/// ends.
///
/// Parts for short segments may also be pixels at equal distances (after Soille, Breen, Jones,
/// "Recursive implementation of erosions and dilations along discrete lines at arbitrary angles",
/// IEEE Trans. PAMI 18(5), 1996, with exact periods).
#pragma once
#include <cstddef>
#include <list>
#include <memory>
#include <vector>

#include "common/api.h"
#include "kernels/linearopen/digital_lines.h"

namespace cudascan::linearopen {

/// Where a part begins, relative to a pixel.
struct SegmentPlace {
  int x, y;

  friend bool operator==(const SegmentPlace &, const SegmentPlace &) = default;
};

/// Parts of one length.
struct SegmentLevel {
  int x = 0, y = 0;  ///< from the first pixel of a part to its last one; not upwards
  /// Parts of the level before that make up a part, relative to its first pixel.
  std::vector<SegmentPlace> made_of;
  std::vector<SegmentPlace> places;  ///< of such parts in the segment, from the top to the bottom
};

/// The parts that cover a segment.
struct SegmentCover {
  static constexpr int kMostLevels = 8;

  std::vector<SegmentLevel> levels;  ///< the first ones are pixels
  int reach = 0;  ///< columns needed on each side of the pixel, less than the plane's width

  /// The cover of the segment rotated by 180 degrees. Its parts are the same.
  CUDASCAN_API SegmentCover turned() const;
};

/// The fastest cover of the segment around a pixel. Pixels that are always outside the plane are
/// left out.
CUDASCAN_API SegmentCover cover_of(const lines::Direction &, int length, int width, int height);

/// Covers that an executor has needed.
class SegmentCovers {
 public:
  template <typename Exec>
  static SegmentCovers &of(Exec &exec) {
    std::shared_ptr<void> &kept = exec.kept(&key_);
    if (!kept) kept = std::make_shared<SegmentCovers>();
    return *static_cast<SegmentCovers *>(kept.get());
  }
  std::shared_ptr<const SegmentCover> find(const lines::Direction &, int length, int width,
                                           int height);

 private:
  struct Entry {
    lines::Direction direction;
    int length, width, height;
    std::shared_ptr<const SegmentCover> cover;
  };
  static const char key_;
  std::list<Entry> entries_;  // most recently used first
};

}  // namespace cudascan::linearopen
