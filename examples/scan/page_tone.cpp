// SPDX-License-Identifier: LGPL-2.1-or-later
#include "page_tone.h"

#include <algorithm>

#include "reduce.h"

namespace cudascan::scan {
namespace {

constexpr int kNear = 2;  ///< cells to either side that give the level of the paper

/// Writes a level of 8 bits into a part of a row.
void fill(Image &page, int y, int begin, int end, std::uint8_t level) {
  if (page.depth == 8) {
    std::uint8_t *row = page.plane<std::uint8_t>().row(y);
    std::fill(row + begin, row + end, level);
  } else {
    std::uint16_t *row = page.plane<std::uint16_t>().row(y);
    std::fill(row + begin, row + end, static_cast<std::uint16_t>(level * 257));
  }
}

std::uint8_t brightest_near(const Plane<const std::uint8_t> &cells,
                            const std::vector<std::uint8_t> &marked, int x, int y) {
  std::uint8_t most = 0;
  for (int row = std::max(0, y - kNear); row <= std::min(cells.height - 1, y + kNear); ++row)
    for (int column = std::max(0, x - kNear); column <= std::min(cells.width - 1, x + kNear);
         ++column)
      if (!marked[row * cells.width + column]) most = std::max(most, cells.row(row)[column]);
  return most;
}

}  // namespace

// The nearest cell is passed on from neighbour to neighbour, forwards and backwards (A. Rosenfeld
// and J. Pfaltz, "Sequential operations in digital picture processing", JACM 13(4), 1966), with
// steps of 3 and 4 (G. Borgefors, "Distance transformations in digital images", CVGIP 34(3), 1986).
bool fill_from_outside(Image &cells, const std::vector<std::uint8_t> &marked) {
  if (std::find(marked.begin(), marked.end(), 0) == marked.end()) return false;
  const auto levels = cells.plane<std::uint8_t>();
  const auto before = cells.plane<const std::uint8_t>();
  constexpr int kFar = 1 << 28;
  std::vector<int> distance(marked.size(), 0);
  std::vector<std::uint8_t> level(marked.size(), 0);
  const int width = cells.width, height = cells.height;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const int at = y * width + x;
      if (marked[at]) {
        distance[at] = kFar;
        continue;
      }
      // Only cells next to marked ones pass a level on.
      const bool is_edge =
          (x > 0 && marked[at - 1]) || (x + 1 < width && marked[at + 1]) ||
          (y > 0 && (marked[at - width] || (x > 0 && marked[at - width - 1]) ||
                     (x + 1 < width && marked[at - width + 1]))) ||
          (y + 1 < height && (marked[at + width] || (x > 0 && marked[at + width - 1]) ||
                              (x + 1 < width && marked[at + width + 1])));
      if (is_edge) level[at] = brightest_near(before, marked, x, y);
    }
  const auto take = [&](int x, int y, int from_x, int from_y, int step) {
    if (from_x < 0 || from_x >= width || from_y < 0 || from_y >= height) return;
    const int at = y * width + x, from = from_y * width + from_x;
    if (distance[from] + step >= distance[at]) return;
    distance[at] = distance[from] + step;
    level[at] = level[from];
  };
  for (int i = 0; i < width * height; ++i) {
    const int x = i % width, y = i / width;
    take(x, y, x - 1, y, 3);
    take(x, y, x - 1, y - 1, 4);
    take(x, y, x, y - 1, 3);
    take(x, y, x + 1, y - 1, 4);
  }
  for (int i = width * height; --i >= 0;) {
    const int x = i % width, y = i / width;
    take(x, y, x + 1, y, 3);
    take(x, y, x + 1, y + 1, 4);
    take(x, y, x, y + 1, 3);
    take(x, y, x - 1, y + 1, 4);
  }
  for (int i = 0; i < width * height; ++i)
    if (marked[i]) levels.row(i / width)[i % width] = level[i];
  return true;
}

void PageTone::whiten_border(PageLevels &page, const Border &border) {
  const int width = page.width(), height = page.height();
  const int by = std::min({64, border.cell(), width, height});
  for (int i = 0; i < page.samples; ++i) {
    Image &plane = page.planes[i];
    reduce(plane, by, by, reduced_);
    const int columns = reduced_.width, rows = reduced_.height;
    if (i == 0) {
      marked_.resize(static_cast<std::size_t>(columns) * rows);
      for (int y = 0; y < rows; ++y)
        for (int x = 0; x < columns; ++x)
          marked_[y * columns + x] = border.has(x * by + by / 2, y * by + by / 2);
    }
    if (!fill_from_outside(reduced_, marked_)) return;
    const auto levels = reduced_.plane<const std::uint8_t>();
    for (int y = 0; y < height; ++y) {
      const std::uint8_t *row = levels.row(std::min(y / by, rows - 1));
      for (int x = 0; x < width; x += by)
        if (border.has(x, y))
          fill(plane, y, x, std::min(x + by, width), row[std::min(x / by, columns - 1)]);
    }
  }
}

void PageTone::even_light(PageLevels &page, const KeptParts &parts) {
  const auto mend = [&](Image &reduced) {
    if (!parts.any()) return true;
    const int by = page.width() / reduced.width;
    marked_.resize(static_cast<std::size_t>(reduced.width) * reduced.height);
    for (int y = 0; y < reduced.height; ++y)
      for (int x = 0; x < reduced.width; ++x) {
        bool kept = false;
        for (const int down : {-1, by / 2, by})
          for (const int across : {-1, by / 2, by})
            kept |= parts.has(std::max(0, x * by + across), std::max(0, y * by + down));
        marked_[y * reduced.width + x] = kept;
      }
    return fill_from_outside(reduced, marked_);
  };
  for (int i = 0; i < page.samples; ++i) {
    HostPixels pixels(page.planes[i]);
    if (!light_.apply(pixels, mend)) return;
  }
}

}  // namespace cudascan::scan
