// SPDX-License-Identifier: LGPL-2.1-or-later
#include "border.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "cell_rows.h"
#include "turned_back.h"

namespace cudascan::scan {
namespace {

constexpr double kThinnest = 2, kShortest = 10;  ///< mm, of parts of the border
constexpr int kVeryDark = 35;                    ///< percent
constexpr int kNear = 2;  ///< cells to either side that give the level of the paper

/// Runs of cells for which `is` holds: calls `use` with the first and the one after the last.
template <typename Is, typename Use>
void for_runs(int count, Is is, Use use) {
  for (int begin = 0; begin < count;) {
    if (!is(begin)) {
      ++begin;
      continue;
    }
    int end = begin + 1;
    while (end < count && is(end)) ++end;
    use(begin, end);
    begin = end;
  }
}

/// Clears the cells that are connected with this one, by their sides.
/// @param piece  is set to them
void take_piece(std::vector<std::uint8_t> &cells, int stride, int from, std::vector<int> &piece) {
  piece.assign(1, from);
  cells[from] = 0;
  for (std::size_t i = 0; i < piece.size(); ++i)
    for (const int step : {-1, 1, -stride, stride}) {
      const int next = piece[i] + step;
      if (!cells[next]) continue;
      cells[next] = 0;
      piece.push_back(next);
    }
}

}  // namespace

void Border::Cells::shape(int new_width, int new_height, std::uint8_t frame) {
  width = new_width;
  height = new_height;
  at.assign(stride() * (height + 2), frame);
  if (frame == 0) return;
  for (int y = 0; y < height; ++y) std::fill(row(y), row(y) + width, std::uint8_t{0});
}

void Border::Cells::clear_frame() {
  std::fill_n(row(-1) - 1, stride(), std::uint8_t{0});
  std::fill_n(row(height) - 1, stride(), std::uint8_t{0});
  for (int y = 0; y < height; ++y) row(y)[-1] = row(y)[width] = 0;
}

void Border::average(const Image &copy, int rows) {
  levels_.shape(copy.width, copy.height / rows);
  const auto from = copy.plane<const std::uint8_t>();
  std::vector<int> sums(levels_.width);
  for (int y = 0; y < levels_.height; ++y) {
    std::fill(sums.begin(), sums.end(), 0);
    for (int row = y * rows; row < (y + 1) * rows; ++row)
      add_row(from.row(row), levels_.width, sums.data());
    mean_rows(sums.data(), levels_.width, rows, levels_.row(y));
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
  std::array<int, 256> counts{};
  for (int y = 0; y < levels_.height; ++y)
    for (int x = 0; x < levels_.width; ++x) ++counts[levels_.row(y)[x]];
  const int enough = levels_.width * levels_.height / 10;
  int level = 255;
  for (int above = counts[255]; level > 0 && above <= enough; above += counts[level]) --level;
  return level;
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

/// Adds dark cells that a dark square of so many cells contains: a morphological opening.
void Border::add_thick(int side) {
  const int width = dark_.width, height = dark_.height;
  const auto most = static_cast<std::uint8_t>(side);
  // Squares reach up to side - 1 cells to the left or the right of where they end.
  std::vector<std::uint8_t> counts(width, 0), padded(width + side, 0);
  Cells ends;  // 1 where a dark square ends
  ends.shape(width, height);
  std::uint8_t *const tall = padded.data() + side;
  for (int y = 0; y < height; ++y) {
    count_set(dark_.row(y), width, most, counts.data());
    find_equal(counts.data(), width, most, tall);
    std::memcpy(ends.row(y), tall, width);
    for (int i = 1; i < side; ++i) and_with(tall - i, width, ends.row(y));
  }
  std::fill(counts.begin(), counts.end(), std::uint8_t{0});
  std::fill(padded.begin(), padded.end(), std::uint8_t{0});
  for (int y = height - 1; y >= 0; --y) {
    count_since(ends.row(y), width, most, counts.data());
    std::memcpy(padded.data(), counts.data(), width);
    for (int i = 0; i < side; ++i) or_with(padded.data() + i, width, pieces_.row(y));
  }
}

/// Adds dark strips along the edges.
void Border::add_strips(int length, int deep) {
  const int width = dark_.width, height = dark_.height;
  for (int depth = 0; depth < std::min({deep, width, height}); ++depth) {
    for (const int y : {depth, height - 1 - depth})
      for_runs(
          width, [&](int x) { return dark_.row(y)[x] != 0; },
          [&](int begin, int end) {
            if (end - begin >= length)
              std::fill(pieces_.row(y) + begin, pieces_.row(y) + end, std::uint8_t{1});
          });
    for (const int x : {depth, width - 1 - depth})
      for_runs(
          height, [&](int y) { return dark_.row(y)[x] != 0; },
          [&](int begin, int end) {
            if (end - begin < length) return;
            for (int y = begin; y < end; ++y) pieces_.row(y)[x] = 1;
          });
  }
}

/// Whether at least half of the cells at some distance around the piece are as bright as that.
bool Border::ends_bright(const std::vector<int> &piece, int bright) {
  constexpr int kDistance = 3;
  const int stride = static_cast<int>(seen_.stride());
  std::vector<int> touched = piece;
  for (const int at : piece) seen_.at[at] = 1;
  std::size_t from = 0;
  for (int i = 0; i < kDistance; ++i) {
    const std::size_t to = touched.size();
    for (; from < to; ++from)
      for (const int step : {-1, 1, -stride, stride}) {
        const int next = touched[from] + step;
        if (seen_.at[next] || marked_.at[next]) continue;
        seen_.at[next] = 1;
        touched.push_back(next);
      }
  }
  std::ptrdiff_t ring_size = 0, count = 0;
  for (; from < touched.size(); ++from, ++ring_size) count += levels_.at[touched[from]] >= bright;
  for (const int at : touched) seen_.at[at] = 0;
  return 2 * count >= ring_size;
}

/// Adds to the border the pieces that belong to it. @return whether there were any
bool Border::add_pieces(int bright) {
  const int stride = static_cast<int>(marked_.stride());
  const auto at_border = [&](int at) {
    return marked_.at[at - 1] || marked_.at[at + 1] || marked_.at[at - stride] ||
           marked_.at[at + stride];
  };
  std::vector<int> piece, border;
  const std::size_t size = pieces_.at.size();
  clear_where(marked_.at.data(), size, pieces_.at.data());
  for (std::size_t at = next_set(pieces_.at, 0); at < size; at = next_set(pieces_.at, at)) {
    take_piece(pieces_.at, stride, static_cast<int>(at), piece);
    if (std::any_of(piece.begin(), piece.end(), at_border) && ends_bright(piece, bright))
      border.insert(border.end(), piece.begin(), piece.end());
  }
  for (const int at : border) marked_.at[at] = 1;
  return !border.empty();
}

/// Adds the blurred edge: all neighbours of the border, then the neighbours of these that are dim.
void Border::grow(int dim) {
  const int width = marked_.width, height = marked_.height;
  for (const int below : {256, dim}) {
    Cells before = marked_;
    before.clear_frame();
    for (int y = 0; y < height; ++y)
      set_next_to(before.row(y - 1), before.row(y), before.row(y + 1), levels_.row(y), below, width,
                  marked_.row(y));
  }
}

double Border::share() const {
  std::ptrdiff_t count = 0;
  for (int y = 0; y < marked_.height; ++y)
    count += std::count(marked_.row(y), marked_.row(y) + marked_.width, 1);
  return static_cast<double>(count) / (1. * marked_.width * marked_.height);
}

bool Border::is_sheet_inside() const {
  constexpr double kSmallest = 0.08, kMost = 0.8;
  std::vector<std::uint8_t> inside(marked_.at);
  for (std::uint8_t &cell : inside) cell ^= 1;
  const auto all = static_cast<double>(std::count(inside.begin(), inside.end(), 1));
  const double page = 1. * marked_.width * marked_.height;
  std::vector<int> piece;
  for (std::size_t at = next_set(inside, 0); at < inside.size(); at = next_set(inside, at)) {
    take_piece(inside, static_cast<int>(marked_.stride()), static_cast<int>(at), piece);
    const auto size = static_cast<double>(piece.size());
    if (size >= kMost * all && size >= kSmallest * page) return true;
  }
  return false;
}

/// The level of the paper: the brightest of the cells near to one, so that no letter is taken for
/// it.
std::uint8_t Border::brightest_near(int x, int y) const {
  std::uint8_t most = 0;
  for (int row = std::max(0, y - kNear); row <= std::min(marked_.height - 1, y + kNear); ++row)
    for (int column = std::max(0, x - kNear); column <= std::min(marked_.width - 1, x + kNear);
         ++column)
      if (!marked_.row(row)[column]) most = std::max(most, levels_.row(row)[column]);
  return most;
}

/// The level of the nearest paper for each cell of the border. It is passed on from cell to cell,
/// forwards and backwards, as in distance transforms (A. Rosenfeld and J. Pfaltz, "Sequential
/// operations in digital picture processing", JACM 13(4), 1966), with steps of 3 and 4 (G.
/// Borgefors, "Distance transformations in digital images", CVGIP 34(3), 1986).
void Border::fill() {
  constexpr int kFar = 1 << 28;
  const int width = marked_.width, height = marked_.height;
  const int stride = static_cast<int>(marked_.stride());
  filling_.shape(width, height);
  std::vector<int> distances(marked_.at.size(), kFar);
  const auto look = [&](int x, int y, int sign) {
    const int at = (y + 1) * stride + x + 1;
    const auto from = [&](int dx, int dy) {
      const int other = at + sign * (dy * stride + dx);
      const int step = dx == 0 || dy == 0 ? 3 : 4;
      const int distance = step + (marked_.at[other] ? distances[other] : 0);
      if (distance >= distances[at]) return;
      distances[at] = distance;
      filling_.at[at] =
          marked_.at[other] ? filling_.at[other] : brightest_near(x + sign * dx, y + sign * dy);
    };
    from(-1, 0);
    from(-1, -1);
    from(0, -1);
    from(1, -1);
  };
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      if (marked_.row(y)[x]) look(x, y, 1);
  for (int y = height - 1; y >= 0; --y)
    for (int x = width - 1; x >= 0; --x)
      if (marked_.row(y)[x]) look(x, y, -1);
}

double Border::find(const Image &page, const Copies &copies, int by_x, int by_y) {
  cell_ = by_x;
  share_ = 0;
  average(copies.reduced, by_x / by_y);
  look_at_edges(copies.edges);
  for (Cells *cells : {&dark_, &pieces_, &seen_}) cells->shape(levels_.width, levels_.height);
  marked_.shape(levels_.width, levels_.height, 1);
  const int white = paper();
  if (!touches_edge(white * 6 / 10)) return 0;
  const double mm = page.resolution.x / kMmPerInch / cell_;  // cells
  const int side = std::clamp(static_cast<int>(std::lround(kThinnest * mm)), 3, 12);
  const int length = std::max(4 * side, static_cast<int>(kShortest * mm));
  bool found = false;
  for (const int share : {20, 35, 50, 60}) {  // percent
    const int dark = (share * white + 99) / 100;
    find_below(levels_.at.data(), marked_.at.data(), static_cast<std::uint8_t>(dark),
               dark_.at.size(), dark_.at.data());
    std::fill(pieces_.at.begin(), pieces_.at.end(), std::uint8_t{0});
    // A line of text that the edge cuts lengthwise is not as dark as a strip, and cells are dark by
    // a part of a stroke if they need not be very dark.
    add_thick(share <= kVeryDark ? side : side + 2);
    if (share <= kVeryDark) add_strips(length, side);
    found |= add_pieces((share + 20) * white / 100);
  }
  if (!found) return 0;
  grow(white * 3 / 4);
  if (!is_sheet_inside()) return 0;
  fill();
  return share_ = share();
}

Box Border::inside(const Image &page, double angle) const {
  const Box whole{0, 0, page.width, page.height};
  if (share_ == 0) return whole;
  // How many cells of the sheet lie in each column and row. A sheet that lies straight has nearly
  // as many in all of them; fingers and torn corners take some away. The corners of one that was
  // not turned back are inside, too.
  const int share = angle != 0 ? 2 : 20;
  const TurnedBack turned(page.width, page.height, angle);
  std::vector<int> columns(page.width / cell_ + 1, 0), rows(page.height / cell_ + 1, 0);
  for (int y = 0; y < marked_.height; ++y)
    for (int x = 0; x < marked_.width; ++x) {
      if (marked_.row(y)[x]) continue;
      const double middle_x = (x + 0.5) * cell_, middle_y = (y + 0.5) * cell_;
      const double to_x = turned.x(middle_x, middle_y) / cell_;
      const double to_y = turned.y(middle_x, middle_y) / cell_;
      const auto inside = [](double at, const std::vector<int> &counts) {
        return at >= 0 && at < static_cast<double>(counts.size());
      };
      if (inside(to_x, columns)) ++columns[static_cast<int>(to_x)];
      if (inside(to_y, rows)) ++rows[static_cast<int>(to_y)];
    }
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
    std::fill(filling_.at.begin(), filling_.at.end(), std::uint8_t{255});
  const auto plane = [](const Cells &cells) {
    return Plane<const std::uint8_t>{cells.row(0), cells.width, cells.height, cells.stride()};
  };
  pixels.fill(cell_, plane(marked_), plane(filling_));
  pixels.find_content();
}

}  // namespace cudascan::scan
