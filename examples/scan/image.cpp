// SPDX-License-Identifier: LGPL-2.1-or-later
#include "image.h"

#include <algorithm>

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

}  // namespace

void find_content(Image &image) {
  image.content = image.depth == 8 ? content_of(image.plane<const std::uint8_t>())
                                   : content_of(image.plane<const std::uint16_t>());
}

}  // namespace cudascan::scan
