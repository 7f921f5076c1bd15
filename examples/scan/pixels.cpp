// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pixels.h"

#include <algorithm>
#include <cstring>

#include "light.h"
#include "reduce.h"

namespace cudascan::scan {
namespace {

template <typename T>
void reduce_edges(const Plane<const T> &page, int cell, int lines, Edges &to) {
  const auto mean = [&](int left, int top, int width, int height) {
    long sum = 0;
    for (int y = top; y < top + height; ++y)
      for (int x = left; x < left + width; ++x) sum += page.row(y)[x] >> (8 * (sizeof(T) - 1));
    return static_cast<std::uint8_t>(sum / (width * height));
  };
  const auto level = [](Image &image, int x, int y) -> std::uint8_t & {
    return image.plane<std::uint8_t>().row(y)[x];
  };
  for (int x = 0; x < to.top.width; ++x) {
    level(to.top, x, 0) = mean(x * cell, 0, cell, lines);
    level(to.bottom, x, 0) = mean(x * cell, page.height - lines, cell, lines);
  }
  for (int y = 0; y < to.left.height; ++y) {
    level(to.left, 0, y) = mean(0, y * cell, lines, cell);
    level(to.right, 0, y) = mean(page.width - lines, y * cell, lines, cell);
  }
}

/// Cells that are marked, next to each other, are filled at once.
template <typename T>
void fill_rows(const std::uint8_t *marked, const std::uint8_t *levels, int cells, int cell,
               int first_row, int last_row, const Plane<T> &page) {
  constexpr int kScale = sizeof(T) == 1 ? 1 : 257;
  for (int begin = 0; begin < cells;) {
    int end = begin;
    while (end < cells && marked[end]) ++end;
    if (end > begin) {
      const int from = begin * cell, to = end == cells ? page.width : end * cell;
      T *first = page.row(first_row);
      for (int x = from; x < to; ++x)
        first[x] = static_cast<T>(kScale * levels[std::min(x / cell, cells - 1)]);
      for (int y = first_row + 1; y < last_row; ++y)
        std::memcpy(page.row(y) + from, first + from, (to - from) * sizeof(T));
    }
    begin = end + 1;
  }
}

}  // namespace

void HostPixels::reduce(int by_x, int by_y, Image &to) {
  scan::reduce(*page_, by_x, by_y, to);
}

void HostPixels::look(int by_x, int by_y, Copies &to) {
  if (page_->content == Content::unknown) find_content();
  reduce(by_x, by_y, to.reduced);
  Edges &edges = to.edges;
  for (Image *image : {&edges.top, &edges.bottom}) image->shape(page_->width / by_x, 1, 8);
  for (Image *image : {&edges.left, &edges.right}) image->shape(1, page_->height / by_x, 8);
  const int width = width_of_edges(by_x);
  if (page_->depth == 8)
    reduce_edges(page_->plane<const std::uint8_t>(), by_x, width, edges);
  else
    reduce_edges(page_->plane<const std::uint16_t>(), by_x, width, edges);
}

void HostPixels::find_content() {
  scan::find_content(*page_);
}

void HostPixels::fill(int cell, const Plane<const std::uint8_t> &marked,
                      const Plane<const std::uint8_t> &levels) {
  for (int y = 0; y < marked.height; ++y) {
    const int first = y * cell, last = y + 1 == marked.height ? page_->height : first + cell;
    if (page_->depth == 8)
      fill_rows(marked.row(y), levels.row(y), marked.width, cell, first, last,
                page_->plane<std::uint8_t>());
    else
      fill_rows(marked.row(y), levels.row(y), marked.width, cell, first, last,
                page_->plane<std::uint16_t>());
  }
}

void HostPixels::divide(const Image &paper, int by) {
  divide_by_paper(*page_, paper, by);
}

}  // namespace cudascan::scan
