// SPDX-License-Identifier: LGPL-2.1-or-later
#include "crop.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "common/error.h"
#include "page_size.h"

namespace cudascan::scan {
namespace {

int pixels(double mm, double dpi) {
  return static_cast<int>(std::lround(mm * dpi / kMmPerInch));
}

/// @throws Error when there is ink in these rows and columns
void require_white(const Plane<const std::uint8_t> &page, const Box &part) {
  for (int y = part.top; y < part.bottom; ++y)
    if (std::any_of(page.row(y) + part.left, page.row(y) + part.right,
                    [](std::uint8_t level) { return level == 0; }))
      throw Error("the content is larger than --page-size");
}

/// Where a length lies on another one if both have the same middle.
struct Span {
  Span(int begin, int end, int room)
      : skipped(std::max(0, end - begin - room) / 2),
        length(std::min(end - begin, room)),
        from(begin + skipped),
        to((room - length) / 2) {}
  int skipped, length, from, to;
};

/// Where the part of a page that is kept lies on what is written.
struct Placing {
  Placing(const Image &from, const Box &box, const Paper &paper)
      : width(paper.width == 0 ? box.right - box.left
                               : std::max(1, pixels(paper.width, from.resolution.x))),
        height(paper.width == 0 ? box.bottom - box.top
                                : std::max(1, pixels(paper.height, from.resolution.y))),
        across(box.left, box.right, width),
        down(box.top, box.bottom, height) {
    check_size("--page-size", width, height);
  }
  int width, height;
  Span across, down;
};

template <typename T>
void copy_part(const Plane<const T> &in, const Placing &at, const Plane<T> &out) {
  for (int y = 0; y < at.down.length; ++y)
    std::memcpy(out.row(at.down.to + y) + at.across.to, in.row(at.down.from + y) + at.across.from,
                sizeof(T) * static_cast<std::size_t>(at.across.length));
}

}  // namespace

Box crop_box(const Image &page, double angle, const Steps &steps, const Border &border,
             const Ink &ink) {
  const Box whole{0, 0, page.width, page.height};
  Box box = steps.crop == Crop::content ? ink.box(page, angle) : whole;
  if (box == whole) box = border.inside(page, angle);
  if (box == whole) return whole;
  const int across = pixels(steps.margin, page.resolution.x);
  const int down = pixels(steps.margin, page.resolution.y);
  return {std::max(0, box.left - across), std::max(0, box.top - down),
          std::min(page.width, box.right + across), std::min(page.height, box.bottom + down)};
}

void cut(const Image &from, const Box &box, const Paper &paper, Image &to) {
  const Placing at(from, box, paper);
  const auto in = from.plane<const std::uint8_t>();
  const int right = at.across.from + at.across.length, bottom = at.down.from + at.down.length;
  require_white(in, {box.left, box.top, at.across.from, box.bottom});
  require_white(in, {right, box.top, box.right, box.bottom});
  require_white(in, {at.across.from, box.top, right, at.down.from});
  require_white(in, {at.across.from, bottom, right, box.bottom});
  cut_levels(from, box, paper, to);
}

void cut_levels(const Image &from, const Box &box, const Paper &paper, Image &to) {
  const Placing at(from, box, paper);
  to.shape(at.width, at.height, from.depth);
  to.resolution = from.resolution;
  whiten_rows(to, 0, to.height);
  if (from.depth == 8)
    copy_part(from.plane<const std::uint8_t>(), at, to.plane<std::uint8_t>());
  else
    copy_part(from.plane<const std::uint16_t>(), at, to.plane<std::uint16_t>());
}

}  // namespace cudascan::scan
