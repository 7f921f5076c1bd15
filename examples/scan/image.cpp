// SPDX-License-Identifier: LGPL-2.1-or-later
#include "image.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "levels.h"

namespace cudascan::scan {
namespace {

template <typename T>
bool all_rows(const Plane<const T> &page, bool (*has)(T first, T maximum, const T *, const T *)) {
  for (int y = 0; y < page.height; ++y)
    if (!has(page.data[0], page.maximum, page.row(y), page.row(y) + page.width)) return false;
  return true;
}

template <typename T>
Content content_of(const Plane<const T> &page) {
  if (all_rows<T>(page, [](T first, T, const T *begin, const T *end) {
        return std::all_of(begin, end, [=](T p) { return p == first; });
      }))
    return page.data[0] > page.maximum / 2 ? Content::white : Content::black;
  if (all_rows<T>(page, [](T, T maximum, const T *begin, const T *end) {
        return std::all_of(begin, end, [=](T p) { return p == 0 || p == maximum; });
      }))
    return Content::bilevel;
  return Content::gray;
}

/// Orientations 5 to 8 swap rows and columns. Then, as EXIF's table says (Exif 2.3, 0x0112), some
/// are mirrored from left to right, some from top to bottom.
template <typename T>
void turn(const Plane<const T> &from, int orientation, const Plane<T> &to) {
  const bool swap = orientation >= 5;
  const bool mirror_x =
      orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7;
  const bool mirror_y =
      orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8;
  constexpr int kBlock = 64;  // so that columns of the source stay in the cache
  for (int top = 0; top < to.height; top += kBlock)
    for (int left = 0; left < to.width; left += kBlock)
      for (int y = top; y < std::min(top + kBlock, to.height); ++y)
        for (int x = left; x < std::min(left + kBlock, to.width); ++x) {
          const int across = mirror_x ? to.width - 1 - x : x;
          const int down = mirror_y ? to.height - 1 - y : y;
          to.row(y)[x] = swap ? from.row(across)[down] : from.row(down)[across];
        }
}

}  // namespace

void whiten_rows(Image &image, int begin, int end) {
  const std::size_t stride = static_cast<std::size_t>(image.stride());
  std::memset(static_cast<char *>(image.memory.data()) + begin * stride, 255,
              (end - begin) * stride);
  if (!image.colour || image.colour->samples == 0) return;
  for (Image &plane : image.colour->planes) whiten_rows(plane, begin, end);
}

void turn_upright(Image &image, int orientation, Image &spare) {
  if (orientation < 2 || orientation > 8) return;
  const bool swap = orientation >= 5;
  spare.shape(swap ? image.height : image.width, swap ? image.width : image.height, image.depth);
  if (image.depth == 8)
    turn<std::uint8_t>(image.plane<const std::uint8_t>(), orientation, spare.plane<std::uint8_t>());
  else
    turn<std::uint16_t>(image.plane<const std::uint16_t>(), orientation,
                        spare.plane<std::uint16_t>());
  spare.resolution = image.resolution;
  if (swap) std::swap(spare.resolution.x, spare.resolution.y);
  std::swap(image, spare);
  std::swap(image.colour, spare.colour);
  if (image.colour && image.colour->samples == 3)
    for (Image &plane : image.colour->planes) turn_upright(plane, orientation, spare);
}

void find_content(Image &image) {
  image.content = image.depth == 8 ? content_of(image.plane<const std::uint8_t>())
                                   : content_of(image.plane<const std::uint16_t>());
}

}  // namespace cudascan::scan
