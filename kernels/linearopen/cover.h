// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// How few minima give the minimum over a segment, for both backends. The minimum over a segment
/// needs as many samples as the segment has pixels. But a segment nearly repeats itself: after most
/// of its pixels, others follow at equal distances (Soille, Breen, Jones, "Recursive implementation
/// of erosions and dilations along discrete lines at arbitrary angles", IEEE Trans. PAMI 18(5),
/// 1996, use exact periods). So minima of such parts are computed first, and a few parts cover a
/// segment; they may overlap.
#pragma once
#include <cstddef>
#include <list>
#include <memory>
#include <vector>

#include "kernels/linearopen/digital_lines.h"

namespace cudascan::linearopen {

/// A position relative to a pixel: a sample, or the extremum of a part that begins there.
struct SegmentPlace {
  int x, y;
  bool part;  ///< a part begins here
};

/// The positions that cover a segment.
struct SegmentCover {
  std::vector<SegmentPlace> places;  ///< first the parts, each kind from the top to the bottom
  int part = 1;                      ///< pixels of a part
  int step_x = 0, step_y = 0;        ///< from one pixel to the next; not upwards
  int reach = 0;  ///< columns needed on each side of the pixel, less than the plane's width

  /// Number of rows before the first one in which parts begin.
  int above() const { return (part - 1) * step_y; }
  /// About how many samples and extrema are read for a pixel.
  std::size_t cost() const { return places.size() + (part > 1 ? part + 4 : 0); }
  /// The cover of the segment rotated by 180 degrees.
  SegmentCover turned() const;
};

/// The fastest cover of the segment around a pixel. Pixels that are always outside the plane are
/// left out.
SegmentCover cover_of(const lines::Direction &, int length, int width, int height);

/// Covers that an executor has needed: finding one takes milliseconds for a long segment.
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
