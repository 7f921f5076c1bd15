// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ink.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numbers>

#include "pieces.h"
#include "reduce.h"
#include "turned_back.h"

namespace cudascan::scan {
namespace {

constexpr double kCopyDpi = 150;
constexpr int kClosing = 21, kSmoothing = 5;     ///< mm
constexpr double kPalest = 0.3, kThrough = 0.2;  ///< below the paper, relative to it
constexpr double kDeviations = 2.5;
constexpr double kDarkPaper = 0.4;                ///< relative to the brightest
constexpr double kShortest = 1, kSmallest = 0.2;  ///< mm, mm^2, of a piece
constexpr double kAlone = 1.5;                    ///< mm, the length of a piece that is enough
constexpr int kEnough = 3;                        ///< near to one another, that are
constexpr double kGap = 2.5;                      ///< mm, between them
constexpr double kAtEdge = 2.5;                   ///< mm

/// A level that a tenth of the pixels reach.
int bright_level(const Image &image) {
  std::array<int, 256> counts{};
  const auto levels = image.plane<const std::uint8_t>();
  for (int y = 0; y < levels.height; ++y)
    for (int x = 0; x < levels.width; ++x) ++counts[levels.row(y)[x]];
  int level = 255;
  for (int above = counts[255]; level > 0 && above <= levels.width * levels.height / 10;
       above += counts[level])
    --level;
  return level;
}

}  // namespace

void Ink::measure_paper(Pixels &pixels) {
  const Image &page = pixels.page();
  const double dpi = page.resolution.x > 0 ? page.resolution.x : kUsualDpi;
  by_ = std::clamp(static_cast<int>(std::lround(dpi / kCopyDpi)), 1,
                   std::min({64, page.width, page.height}));
  pixels.reduce(by_, by_, copy_);
  cell_ = std::clamp(static_cast<int>(std::lround(dpi / by_ / kMmPerInch)), 1,
                     std::min({64, copy_.width, copy_.height}));
  reduce(copy_, cell_, cell_, cells_);
  paper_.measure(cells_, kClosing, kSmoothing);
}

/// The standard deviation of the noise, if it is normal: from the median difference of neighbours.
double Ink::noise() const {
  std::array<int, 256> counts{};
  const auto levels = copy_.plane<const std::uint8_t>();
  int all = 0;
  for (int y = 0; y < levels.height; y += 4)
    for (int x = 1; x < levels.width; ++x, ++all)
      ++counts[std::abs(levels.row(y)[x] - levels.row(y)[x - 1])];
  int median = 0;
  for (int below = counts[0]; median < 255 && 2 * below < all; below += counts[median]) ++median;
  return median / (0.6745 * std::numbers::sqrt2);
}

void Ink::find_runs(const Border &border) {
  runs_.clear();
  const auto levels = copy_.plane<const std::uint8_t>();
  const auto paper = paper_.levels().plane<const std::uint8_t>();
  const int bright = std::max(1, bright_level(paper_.levels()));
  const double palest = std::max(kPalest, kThrough + kDeviations * noise() / bright);
  std::vector<int> limits(levels.width);
  for (int y = 0; y < levels.height; ++y) {
    const std::uint8_t *around = paper.row(std::min(y / cell_, paper.height - 1));
    if (y % cell_ == 0)
      for (int x = 0; x < levels.width; ++x)
        limits[x] = static_cast<int>(std::max(
            (1 - palest) * around[std::min(x / cell_, paper.width - 1)], kDarkPaper * bright));
    const auto is_ink = [&](int x) {
      return levels.row(y)[x] < limits[x] && !border.has(x * by_, y * by_);
    };
    for (int x = 0; x < levels.width; ++x) {
      if (!is_ink(x)) continue;
      const int begin = x;
      while (x < levels.width && is_ink(x)) ++x;
      runs_.push_back({begin, x, y, 0});
    }
  }
}

/// Gives each run the number of its piece. @return how many numbers there are
int Ink::number_pieces() {
  Pieces pieces;
  std::size_t above = 0;  // the first run of the row above that may touch
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    Run &run = runs_[i];
    run.piece = pieces.add();
    while (above < i && (runs_[above].y < run.y - 1 ||
                         (runs_[above].y == run.y - 1 && runs_[above].end < run.begin)))
      ++above;
    for (std::size_t j = above; j < i && runs_[j].y == run.y - 1 && runs_[j].begin <= run.end; ++j)
      pieces.join(run.piece, runs_[j].piece);
  }
  for (Run &run : runs_) run.piece = pieces.root(run.piece);
  return pieces.count();
}

/// Keeps the runs of pieces that count.
void Ink::keep_large(double mm, const Border &border) {
  struct Extent {
    int left = 1 << 30, right = 0, top = 1 << 30, bottom = 0, area = 0, runs = 0, at_edge = 0;
    bool counts = false;
    int length() const { return std::max(right - left, bottom - top); }
  };
  std::vector<Extent> extents(number_pieces());
  const double edge = kAtEdge * mm;
  for (const Run &run : runs_) {
    Extent &e = extents[run.piece];
    e.left = std::min(e.left, run.begin);
    e.right = std::max(e.right, run.end);
    e.top = std::min(e.top, run.y);
    e.bottom = std::max(e.bottom, run.y + 1);
    e.area += run.end - run.begin;
    ++e.runs;
    const auto has = [&](double x, double y) {
      return border.has(static_cast<int>(x * by_), static_cast<int>(y * by_));
    };
    const double middle = 0.5 * (run.begin + run.end);
    e.at_edge += has(run.begin - edge, run.y) || has(run.end + edge, run.y) ||
                 has(middle, run.y - edge) || has(middle, run.y + edge);
  }
  std::vector<Extent *> large;  // by their upper ends
  for (Extent &e : extents)
    if (e.area >= kSmallest * mm * mm && e.length() >= kShortest * mm && e.right > edge &&
        e.bottom > edge && e.left < copy_.width - edge && e.top < copy_.height - edge &&
        10 * e.at_edge < 9 * e.runs)
      large.push_back(&e);
  std::sort(large.begin(), large.end(), [](auto *a, auto *b) { return a->top < b->top; });
  Pieces groups;
  for (std::size_t i = 0; i < large.size(); ++i) groups.add();
  const double gap = kGap * mm;
  for (std::size_t i = 0; i < large.size(); ++i)
    for (std::size_t j = i + 1; j < large.size() && large[j]->top <= large[i]->bottom + gap; ++j)
      if (large[j]->left <= large[i]->right + gap && large[i]->left <= large[j]->right + gap)
        groups.join(static_cast<int>(i), static_cast<int>(j));
  std::vector<int> sizes(large.size(), 0);
  for (std::size_t i = 0; i < large.size(); ++i)
    sizes[groups.root(static_cast<int>(i))] += large[i]->length() >= kAlone * mm ? kEnough : 1;
  for (std::size_t i = 0; i < large.size(); ++i)
    large[i]->counts = sizes[groups.root(static_cast<int>(i))] >= kEnough;
  kept_.clear();
  for (const Run &run : runs_)
    if (extents[run.piece].counts) kept_.push_back(run);
}

void Ink::find(Pixels &pixels, const Border &border) {
  const Image &page = pixels.page();
  measure_paper(pixels);
  find_runs(border);
  const double dpi = page.resolution.x > 0 ? page.resolution.x : kUsualDpi;
  keep_large(dpi / by_ / kMmPerInch, border);
}

Box Ink::box(const Image &page, double angle) const {
  if (kept_.empty()) return {0, 0, page.width, page.height};
  const TurnedBack turned(page.width, page.height, angle);
  double left = page.width, top = page.height, right = 0, bottom = 0;
  for (const Run &run : kept_)
    for (const int end : {run.begin, run.end}) {
      const double x = 1. * end * by_, y = (run.y + 0.5) * by_;
      left = std::min(left, turned.x(x, y));
      right = std::max(right, turned.x(x, y));
      top = std::min(top, turned.y(x, y));
      bottom = std::max(bottom, turned.y(x, y));
    }
  const auto within = [](double at, int most) {
    return std::clamp(static_cast<int>(std::lround(at)), 0, most);
  };
  return {within(left, page.width - 1), within(top - 0.5 * by_, page.height - 1),
          std::max(1, within(right, page.width)),
          std::max(1, within(bottom + 0.5 * by_, page.height))};
}

}  // namespace cudascan::scan
