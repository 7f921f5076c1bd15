// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/linearopen/cover.h"

#include <algorithm>
#include <cstdlib>

namespace cudascan::linearopen {
namespace {

/// The pixels of a segment, relative to its centre, from the top to the bottom.
std::vector<SegmentPlace> pixels_of(const lines::Direction &direction, int length, int width,
                                    int height) {
  std::vector<SegmentPlace> pixels;
  for (int i = 0; i < length; ++i) {
    const int along = i - length / 2, across = direction.shift(along);
    const SegmentPlace pixel =
        direction.steep ? SegmentPlace{across, along, false} : SegmentPlace{along, across, false};
    // Pixels further away than the size of the plane are always outside.
    if (std::abs(pixel.x) < width && std::abs(pixel.y) < height) pixels.push_back(pixel);
  }
  std::sort(pixels.begin(), pixels.end(), [](const SegmentPlace &a, const SegmentPlace &b) {
    return a.y != b.y ? a.y < b.y : a.x < b.x;
  });
  return pixels;
}

/// @param pixels    from the top to the bottom
/// @param distance  from a pixel of a part to the next, in the order of pixels
SegmentCover cover_with(const std::vector<SegmentPlace> &pixels, int part, int distance) {
  const int n = static_cast<int>(pixels.size());
  SegmentCover cover;
  cover.part = part;
  // Taken from the middle of the segment.
  const int middle = distance == 0 ? 0 : (n - distance) / 2;
  const SegmentPlace &from = pixels[middle], &to = pixels[middle + distance];
  cover.step_x = to.x - from.x;
  cover.step_y = to.y - from.y;
  // The number of pixels of a part from each pixel on.
  std::vector<int> follow(n, 1);
  for (int i = n - 1 - distance; part > 1 && i >= 0; --i)
    if (pixels[i + distance].x - pixels[i].x == cover.step_x &&
        pixels[i + distance].y - pixels[i].y == cover.step_y)
      follow[i] = follow[i + distance] + 1;
  std::vector<bool> covered(n);
  for (int i = 0; i < n; ++i) {
    if (covered[i]) continue;
    // Earlier pixels are covered already, so a part may begin there if too few pixels follow.
    int begin = i;
    while (follow[begin] < part && begin >= distance && follow[begin - distance] > follow[begin])
      begin -= distance;
    const bool whole = part > 1 && follow[begin] >= part;
    if (!whole) begin = i;
    cover.places.push_back({pixels[begin].x, pixels[begin].y, whole});
    for (int k = 0; k < (whole ? part : 1); ++k) covered[begin + k * distance] = true;
  }
  for (const SegmentPlace &pixel : pixels) cover.reach = std::max(cover.reach, std::abs(pixel.x));
  return cover;
}

void sort_places(std::vector<SegmentPlace> &places) {
  std::stable_sort(places.begin(), places.end(), [](const SegmentPlace &a, const SegmentPlace &b) {
    return a.part != b.part ? a.part : a.y < b.y;
  });
}

}  // namespace

SegmentCover SegmentCover::turned() const {
  SegmentCover cover = *this;
  for (SegmentPlace &place : cover.places) {
    // The last pixel of a part becomes its first one.
    const int further = place.part ? part - 1 : 0;
    place.x = -place.x - further * step_x;
    place.y = -place.y - further * step_y;
  }
  sort_places(cover.places);
  return cover;
}

SegmentCover cover_of(const lines::Direction &direction, int length, int width, int height) {
  constexpr int kMostDistance = 32;
  const std::vector<SegmentPlace> pixels = pixels_of(direction, length, width, height);
  const int n = static_cast<int>(pixels.size());
  SegmentCover best = cover_with(pixels, 1, 0);
  for (const int part : {2, 3, 4, 6, 8, 12, 16, 24, 32})
    for (int distance = 1; distance <= kMostDistance && distance * (part - 1) < n; ++distance) {
      SegmentCover cover = cover_with(pixels, part, distance);
      if (cover.cost() < best.cost()) best = std::move(cover);
    }
  sort_places(best.places);
  return best;
}

const char SegmentCovers::key_ = 0;

std::shared_ptr<const SegmentCover> SegmentCovers::find(const lines::Direction &direction,
                                                        int length, int width, int height) {
  constexpr std::size_t kMost = 2048;  // twice as many as an operator may have directions
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry &e) {
    return e.direction == direction && e.length == length && e.width == width && e.height == height;
  });
  if (found != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, found);
  } else {
    if (entries_.size() == kMost) entries_.pop_back();
    entries_.push_front(
        {direction, length, width, height,
         std::make_shared<const SegmentCover>(cover_of(direction, length, width, height))});
  }
  return entries_.front().cover;
}

}  // namespace cudascan::linearopen
