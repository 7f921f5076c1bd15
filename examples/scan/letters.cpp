// SPDX-License-Identifier: LGPL-2.1-or-later
#include "letters.h"

#include <algorithm>
#include <vector>

#include "kernels/binarize.h"
#include "pieces.h"
#include "reduce.h"

namespace cudascan::scan {
namespace {

constexpr int kMostPixels = 5000;  ///< a side
constexpr int kLeastHeight = 4, kLeastArea = 6;
constexpr int kSlimmest = 4;                          ///< how many times longer than wide
constexpr int kEdge = 6;                              ///< a sixth of a side
constexpr std::size_t kEnough = 40, kMostSpecks = 2;  ///< letters; specks a letter
constexpr double kMostSpread = 2.5;                   ///< quartiles, relative to each other
/// Heights are too large by the blur at both ends.
constexpr double kBlur = 0.8;

struct Run {
  int begin, end, y, piece;
};

/// Runs of ink with the numbers of their pieces, which touch in any of eight directions.
std::vector<Run> connected_runs(const Plane<const std::uint8_t> &page, Pieces &pieces) {
  std::vector<Run> runs;
  std::size_t above = 0, row = 0;  // first runs of both rows
  for (int y = 0; y < page.height; ++y) {
    const std::uint8_t *levels = page.row(y);
    for (int x = 0; x < page.width; ++x) {
      if (levels[x] != 0) continue;
      const int begin = x;
      while (x < page.width && levels[x] == 0) ++x;
      runs.push_back({begin, x, y, pieces.add()});
    }
    std::size_t first = above;
    for (std::size_t i = row; i < runs.size(); ++i) {
      while (first < row && runs[first].end < runs[i].begin) ++first;
      for (std::size_t j = first; j < row && runs[j].begin <= runs[i].end; ++j)
        pieces.join(runs[i].piece, runs[j].piece);
    }
    above = row;
    row = runs.size();
  }
  return runs;
}

struct Extent {
  int left = 1 << 30, right = 0, top = 1 << 30, bottom = 0, area = 0;
};

double quantile(std::vector<int> &values, double share) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(share * (values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

double median_height(const Plane<const std::uint8_t> &page) {
  Pieces pieces;
  const std::vector<Run> runs = connected_runs(page, pieces);
  std::vector<Extent> extents(pieces.count());
  for (const Run &run : runs) {
    Extent &e = extents[pieces.root(run.piece)];
    e.left = std::min(e.left, run.begin);
    e.right = std::max(e.right, run.end);
    e.top = std::min(e.top, run.y);
    e.bottom = std::max(e.bottom, run.y + 1);
    e.area += run.end - run.begin;
  }
  std::vector<int> heights;
  std::size_t specks = 0;
  for (const Extent &e : extents) {
    const int width = e.right - e.left, height = e.bottom - e.top;
    if (e.area == 0) continue;
    if (height < kLeastHeight && width < kLeastHeight)
      ++specks;
    else if (height >= kLeastHeight && e.area >= kLeastArea && width <= kSlimmest * height &&
             height <= kSlimmest * width)
      heights.push_back(height);
  }
  if (heights.size() < kEnough || specks > kMostSpecks * heights.size()) return 0;
  if (quantile(heights, 0.75) > kMostSpread * quantile(heights, 0.25)) return 0;
  return quantile(heights, 0.5);
}

}  // namespace

double Letters::height(const Image &page) {
  const int by = (std::max(page.width, page.height) + kMostPixels - 1) / kMostPixels;
  if (page.width < by || page.height < by) return 0;
  reduce(page, by, by, copy_);
  const bool black_and_white = by == 1 && page.content == Content::bilevel;
  if (!black_and_white) {
    black_.shape(copy_.width, copy_.height, 8);
    BinarizeParams params;
    // Without the edges, where a dark surround would decide what ink is.
    const int across = copy_.width / kEdge, down = copy_.height / kEdge;
    params.roi = {across, down, copy_.width - 2 * across, copy_.height - 2 * down};
    run(cpu_, copy_.plane<const std::uint8_t>(), black_.plane<std::uint8_t>(), params);
  }
  const double height =
      median_height((black_and_white ? copy_ : black_).plane<const std::uint8_t>());
  return height > 0 ? (height - kBlur) * by : 0;
}

}  // namespace cudascan::scan
