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
  const bool whole = paper.width == 0;
  const int width =
      whole ? box.right - box.left : std::max(1, pixels(paper.width, from.resolution.x));
  const int height =
      whole ? box.bottom - box.top : std::max(1, pixels(paper.height, from.resolution.y));
  check_size("--page-size", width, height);
  const Span across(box.left, box.right, width), down(box.top, box.bottom, height);
  const auto in = from.plane<const std::uint8_t>();
  const int right = across.from + across.length, bottom = down.from + down.length;
  require_white(in, {box.left, box.top, across.from, box.bottom});
  require_white(in, {right, box.top, box.right, box.bottom});
  require_white(in, {across.from, box.top, right, down.from});
  require_white(in, {across.from, bottom, right, box.bottom});
  to.shape(width, height, 8);
  to.resolution = from.resolution;
  whiten_rows(to, 0, height);
  const auto out = to.plane<std::uint8_t>();
  for (int y = 0; y < down.length; ++y)
    std::memcpy(out.row(down.to + y) + across.to, in.row(down.from + y) + across.from,
                static_cast<std::size_t>(across.length));
}

}  // namespace cudascan::scan
