// SPDX-License-Identifier: LGPL-2.1-or-later
#include "border.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "cell_rows.h"
#include "quantile.h"
#include "turned_back.h"

namespace cudascan::scan {
namespace {

constexpr double kThinnest = 2, kShortest = 10;  ///< mm, of parts of the border
constexpr int kVeryDark = 35;                    ///< percent

/// How many points fall into each of some cells in a row.
class Tally {
 public:
  explicit Tally(int cells) : changes_(cells + 1, 0) {}
  /// Adds points at(begin) to at(end - 1). Each of them is at most one cell further than the one
  /// before, and not before it.
  template <typename At>
  void add(int begin, int end, At at) {
    const int first = at(begin), last = at(end - 1);
    if (last - first == end - 1 - begin) {
      const int most = static_cast<int>(changes_.size()) - 1;
      ++changes_[std::clamp(first, 0, most)];
      --changes_[std::clamp(last + 1, 0, most)];
      return;
    }
    const int middle = (begin + end) / 2;
    add(begin, middle, at);
    add(middle, end, at);
  }
  std::vector<int> counts() const {
    std::vector<int> sums(changes_.size() - 1);
    std::partial_sum(changes_.begin(), changes_.end() - 1, sums.begin());
    return sums;
  }

 private:
  std::vector<int> changes_;  ///< from one cell to the next
};

}  // namespace

void Border::Cells::shape(int new_width, int new_height) {
  width = new_width;
  height = new_height;
  stride = std::ptrdiff_t{1} * CellBits::words_for(width) * CellBits::kWord;
  at.assign(stride * (height + 2 * NearestLevels::kNear), 0);
}

void Border::average(const Image &copy, int rows) {
  levels_.shape(copy.width, copy.height / rows);
  const auto from = copy.plane<const std::uint8_t>();
  const int stride = static_cast<int>(copy.stride());  // whole vectors are faster
  for (int y = 0; y < levels_.height; ++y) {
    sums_.assign(stride, 0);
    for (int row = y * rows; row < (y + 1) * rows; ++row)
      add_row(from.row(row), stride, sums_.data());
    mean_rows(sums_.data(), levels_.width, rows, levels_.row(y));
  }
}

/// Darkens the cells at the edges to the mean of their outermost pixels.
void Border::look_at_edges(const Edges &edges) {
  const int last_row = levels_.height - 1, last_column = levels_.width - 1;
  const auto darken = [&](int x, int y, const Image &edge, int edge_x, int edge_y) {
    std::uint8_t &level = levels_.row(y)[x];
    level = std::min(level, edge.plane<const std::uint8_t>().row(edge_y)[edge_x]);
  };
  for (int x = 0; x <= last_column; ++x) {
    darken(x, 0, edges.top, x, 0);
    darken(x, last_row, edges.bottom, x, 0);
  }
  for (int y = 0; y <= last_row; ++y) {
    darken(0, y, edges.left, 0, y);
    darken(last_column, y, edges.right, 0, y);
  }
}

/// A level that a tenth of the page reaches.
int Border::paper() const {
  const std::size_t enough = std::size_t{1} * levels_.width * levels_.height / 10;
  return level_reached(levels_.row(0) - 1, levels_.stride * levels_.height, enough + 1);
}

bool Border::touches_edge(int dark) const {
  const auto is_dark = [=](std::uint8_t level) { return level < dark; };
  const std::uint8_t *first = levels_.row(0), *last = levels_.row(levels_.height - 1);
  if (std::any_of(first, first + levels_.width, is_dark) ||
      std::any_of(last, last + levels_.width, is_dark))
    return true;
  for (int y = 0; y < levels_.height; ++y)
    if (is_dark(levels_.row(y)[0]) || is_dark(levels_.row(y)[levels_.width - 1])) return true;
  return false;
}

/// Adds dark strips along the edges.
void Border::add_strips(int length, int deep) {
  const int width = dark_.width(), height = dark_.height();
  for (int depth = 0; depth < std::min({deep, width, height}); ++depth) {
    for (const int y : {depth, height - 1 - depth})
      for_runs(dark_.row(y), dark_.words(), [&](int begin, int end) {
        if (end - begin >= length) thick_.set(y, begin, end);
      });
    for (const int x : {depth, width - 1 - depth})
      for (int begin = 0, end = 0; begin < height; begin = end + 1) {
        for (end = begin; end < height && dark_.has(x, end);) ++end;
        for (int y = begin; end - begin >= length && y < end; ++y) thick_.set(y, x, x + 1);
      }
  }
}

/// Whether at least half of the cells at some distance around the piece are as bright as that.
bool Border::ends_bright(const CellRun *begin, const CellRun *end, int bright) {
  constexpr int kDistance = 3;
  const int top = std::max(0, begin->y - kDistance);
  const int bottom = std::min(near_.height(), end[-1].y + 1 + kDistance);
  for (const CellRun *run = begin; run < end; ++run) ring_.set(run->y, run->begin, run->end);
  for (int i = 0; i < kDistance; ++i) {
    std::swap(near_, ring_);
    ring_.set_neighbours(near_, top, bottom);
    ring_.remove(closed_, top, bottom);
  }
  ring_.remove(near_, top, bottom);
  std::ptrdiff_t ring_size = 0, count = 0;
  for (int y = top; y < bottom; ++y)
    for_runs(ring_.row(y), ring_.words(), [&](int left, int right) {
      ring_size += right - left;
      count += std::count_if(levels_.row(y) + left, levels_.row(y) + right,
                             [=](std::uint8_t level) { return level >= bright; });
    });
  near_.clear(top, bottom);
  ring_.clear(top, bottom);
  return 2 * count >= ring_size;
}

/// Adds to the border the pieces that belong to it. @return whether there were any
bool Border::add_pieces(int bright) {
  thick_.remove(border_);
  pieces_.find(thick_);
  space_.set_neighbours(closed_, 0, closed_.height());
  const auto at_border = [&](const CellRun &run) { return space_.any(run.y, run.begin, run.end); };
  bool found = false;
  thick_.clear(0, thick_.height());
  for (int piece = 0; piece < pieces_.count(); ++piece) {
    const CellRun *const begin = pieces_.begin(piece), *const end = pieces_.end(piece);
    if (!std::any_of(begin, end, at_border) || !ends_bright(begin, end, bright)) continue;
    for (const CellRun *run = begin; run < end; ++run) thick_.set(run->y, run->begin, run->end);
    found = true;
  }
  border_.add(thick_);
  closed_.add(thick_);
  return found;
}

/// Adds the blurred edge: all neighbours of the border, then the neighbours of these that are dim.
void Border::grow(int dim) {
  border_.grow(space_);
  near_ = border_;
  near_.grow(space_);
  ring_.add_below(levels_.row(0) - 1, static_cast<std::uint8_t>(dim));
  near_.keep(ring_);
  border_.add(near_);
}

bool Border::is_sheet_inside() {
  constexpr double kSmallest = 0.08, kMost = 0.8;
  inside_.shape(border_.width(), border_.height());
  for (int y = 0; y < inside_.height(); ++y) inside_.set(y, 0, inside_.width());
  inside_.remove(border_);
  const auto all = static_cast<double>(inside_.count());
  const double page = 1. * inside_.width() * inside_.height();
  pieces_.find(inside_);
  for (int piece = 0; piece < pieces_.count(); ++piece) {
    double size = 0;
    for (const CellRun *run = pieces_.begin(piece); run < pieces_.end(piece); ++run)
      size += run->end - run->begin;
    if (size >= kMost * all && size >= kSmallest * page) return true;
  }
  return false;
}

void Border::fill() {
  near_ = border_;
  near_.grow(space_);
  near_.remove(border_);
  nearest_.fill(border_, near_, levels_.row(0) - 1);
}

double Border::find(const Image &page, const Copies &copies, int by_x, int by_y) {
  cell_ = by_x;
  share_ = 0;
  average(copies.reduced, by_x / by_y);
  look_at_edges(copies.edges);
  const int white = paper();
  if (!touches_edge(white * 6 / 10)) return 0;
  for (CellBits *cells : {&dark_, &thick_, &border_, &near_, &ring_, &space_})
    cells->shape(levels_.width, levels_.height);
  closed_.shape(levels_.width, levels_.height, true);
  const double mm = page.resolution.x / kMmPerInch / cell_;  // cells
  const int side = std::clamp(static_cast<int>(std::lround(kThinnest * mm)), 3, 12);
  const int length = std::max(4 * side, static_cast<int>(kShortest * mm));
  bool found = false;
  for (const int share : {20, 35, 50, 60}) {  // percent
    const int dark = (share * white + 99) / 100;
    dark_.add_below(levels_.row(0) - 1, static_cast<std::uint8_t>(dark));
    thick_ = dark_;
    // A line of text that the edge cuts lengthwise is not as dark as a strip, and cells are dark by
    // a part of a stroke if they need not be very dark.
    thick_.keep_squares(share <= kVeryDark ? side : side + 2, space_);
    if (share <= kVeryDark) add_strips(length, side);
    found |= add_pieces((share + 20) * white / 100);
  }
  if (!found) return 0;
  grow(white * 3 / 4);
  if (!is_sheet_inside()) return 0;
  fill();
  return share_ = static_cast<double>(border_.count()) / (1. * border_.width() * border_.height());
}

Box Border::inside(const Image &page, double angle) const {
  const Box whole{0, 0, page.width, page.height};
  if (share_ == 0) return whole;
  // How many cells of the sheet lie in each column and row. A sheet that lies straight has nearly
  // as many in all of them; fingers and torn corners take some away. The corners of one that was
  // not turned back are inside, too.
  const int share = angle != 0 ? 2 : 20;
  // In cells. Positions are never negative with this added.
  constexpr int kAround = 1 << 16;
  const auto floor = [](double at) { return static_cast<int>(at + kAround) - kAround; };
  const TurnedBack turned(1. * page.width / cell_, 1. * page.height / cell_, angle);
  Tally across(page.width / cell_ + 1), down(page.height / cell_ + 1);
  std::vector<int> begins(inside_.width());  // of runs down the columns
  for (int y = 0; y <= inside_.height(); ++y) {
    if (y < inside_.height())
      for_runs(inside_.row(y), inside_.words(), [&](int begin, int end) {
        across.add(begin, end, [&](int x) { return floor(turned.x(x + 0.5, y + 0.5)); });
      });
    for_changes(inside_, y, [&](int x) {
      if (y < inside_.height() && inside_.has(x, y))
        begins[x] = y;
      else
        down.add(begins[x], y, [&](int row) { return floor(turned.y(x + 0.5, row + 0.5)); });
    });
  }
  const std::vector<int> columns = across.counts(), rows = down.counts();
  const auto ends = [&](const std::vector<int> &counts, int pixels) {
    const int enough = *std::max_element(counts.begin(), counts.end()) / share;
    const auto is_enough = [=](int count) { return count > enough; };
    const auto first = std::find_if(counts.begin(), counts.end(), is_enough);
    const auto last = std::find_if(counts.rbegin(), counts.rend(), is_enough).base();
    // The border was grown by one cell.
    return std::pair{std::max(0, static_cast<int>(first - counts.begin() - 1) * cell_),
                     std::min(pixels, static_cast<int>(last - counts.begin() + 1) * cell_)};
  };
  const auto [left, right] = ends(columns, page.width);
  const auto [top, bottom] = ends(rows, page.height);
  return {left, top, right, bottom};
}

void Border::whiten(Pixels &pixels) {
  if (pixels.page().content == Content::bilevel)
    std::fill(levels_.at.begin(), levels_.at.end(), std::uint8_t{255});
  marks_.shape(border_.width(), border_.height());
  for (int y = 0; y < marks_.height; ++y)
    for_runs(border_.row(y), border_.words(), [&](int begin, int end) {
      std::fill(marks_.row(y) + begin, marks_.row(y) + end, std::uint8_t{1});
    });
  pixels.fill(cell_, marks_.plane(), levels_.plane());
  pixels.find_content();
}

}  // namespace cudascan::scan
