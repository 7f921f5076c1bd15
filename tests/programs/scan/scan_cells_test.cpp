// SPDX-License-Identifier: LGPL-2.1-or-later
// The search for the border of a page, which looks at many cells at once, compared with loops that
// look at one after the other.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <vector>

#include "examples/scan/border.h"
#include "examples/scan/turned_back.h"

namespace cudascan::scan {
namespace {

std::mt19937 random_bits(5);

int below(int limit) {
  return static_cast<int>(random_bits() % static_cast<unsigned>(limit));
}

/// Cells, one after the other; those outside are 0.
struct Naive {
  Naive(int width, int height)
      : width(width), height(height), at(static_cast<std::size_t>(width) * height, 0) {}
  int get(int x, int y) const {
    return x >= 0 && y >= 0 && x < width && y < height ? at[y * width + x] : 0;
  }
  int &operator()(int x, int y) { return at[y * width + x]; }
  int width, height;
  std::vector<int> at;
};

/// Blots, and single cells, some of them missing.
Naive random_cells(int width, int height) {
  Naive cells(width, height);
  for (int i = below(12); i > 0; --i) {
    const int left = below(width), top = below(height), right = left + below(40);
    for (int y = top; y < std::min(height, top + 12); ++y)
      for (int x = left; x < std::min(width, right); ++x) cells(x, y) = 1;
  }
  for (int i = below(1 + width * height / 8); i > 0; --i)
    cells(below(width), below(height)) = below(2);
  return cells;
}

CellBits bits_of(const Naive &cells) {
  CellBits bits;
  bits.shape(cells.width, cells.height);
  for (int y = 0; y < cells.height; ++y)
    for (int begin = 0; begin < cells.width; ++begin) {
      int end = begin;
      while (cells.get(end, y)) ++end;
      if (end > begin) bits.set(y, begin, end);
      begin = end;
    }
  return bits;
}

template <typename Is>
void expect_cells(const CellBits &bits, Is is) {
  for (int y = 0; y < bits.height(); ++y)
    for (int x = 0; x < bits.width(); ++x)
      ASSERT_EQ(bits.has(x, y), is(x, y)) << x << ' ' << y << " of " << bits.width();
}

/// Widths on both sides of where words end.
constexpr int kWidths[] = {1, 2, 30, 61, 62, 63, 64, 65, 126, 127, 200};

template <typename Check>
void for_random_cells(Check check) {
  for (const int width : kWidths)
    for (int i = 0; i < 20; ++i) {
      const Naive cells = random_cells(width, 1 + below(40));
      check(cells, bits_of(cells));
    }
}

TEST(CellBits, RunsAndCounts) {
  for_random_cells([](const Naive &cells, const CellBits &bits) {
    expect_cells(bits, [&](int x, int y) { return cells.get(x, y) != 0; });
    EXPECT_EQ(bits.count(), std::count(cells.at.begin(), cells.at.end(), 1));
    Naive seen(cells.width, cells.height);
    for (int y = 0; y < cells.height; ++y)
      for_runs(bits.row(y), bits.words(), [&](int begin, int end) {
        EXPECT_FALSE(cells.get(begin - 1, y) || cells.get(end, y));
        for (int x = begin; x < end; ++x) seen(x, y) = 1;
      });
    EXPECT_EQ(seen.at, cells.at);
    for (int i = 0; i < 50; ++i) {
      const int y = below(cells.height), begin = below(cells.width);
      const int end = begin + below(cells.width - begin + 1);
      bool any = false;
      for (int x = begin; x < end; ++x) any |= cells.get(x, y) != 0;
      EXPECT_EQ(bits.any(y, begin, end), any);
    }
  });
}

TEST(CellBits, SquaresThatFitIntoCells) {
  for_random_cells([](const Naive &cells, const CellBits &bits) {
    const int side = 1 + below(CellBits::kWidest);
    Naive covered(cells.width, cells.height);
    for (int top = 0; top + side <= cells.height; ++top)
      for (int left = 0; left + side <= cells.width; ++left) {
        int sum = 0;
        for (int i = 0; i < side * side; ++i) sum += cells.get(left + i % side, top + i / side);
        for (int i = 0; sum == side * side && i < side * side; ++i)
          covered(left + i % side, top + i / side) = 1;
      }
    CellBits squares = bits, space;
    space.shape(cells.width, cells.height);
    squares.keep_squares(side, space);
    expect_cells(squares, [&](int x, int y) { return covered.get(x, y) != 0; });
  });
}

TEST(CellBits, Neighbours) {
  for_random_cells([](const Naive &cells, const CellBits &bits) {
    CellBits neighbours, space, grown = bits;
    for (CellBits *made : {&neighbours, &space}) made->shape(cells.width, cells.height);
    neighbours.set_neighbours(bits, 0, cells.height);
    const auto is_neighbour = [&](int x, int y) {
      return cells.get(x, y) || cells.get(x - 1, y) || cells.get(x + 1, y) || cells.get(x, y - 1) ||
             cells.get(x, y + 1);
    };
    expect_cells(neighbours, is_neighbour);
    grown.grow(space);
    expect_cells(grown, [&](int x, int y) {
      return is_neighbour(x, y) || cells.get(x - 1, y - 1) || cells.get(x + 1, y - 1) ||
             cells.get(x - 1, y + 1) || cells.get(x + 1, y + 1);
    });
    CellBits outside;
    outside.shape(cells.width, cells.height, true);
    neighbours.set_neighbours(outside, 0, cells.height);
    expect_cells(neighbours, [&](int x, int y) {
      return x == 0 || y == 0 || x == cells.width - 1 || y == cells.height - 1;
    });
  });
}

/// Levels as rows that NearestLevels takes.
struct Levels {
  explicit Levels(const CellBits &like)
      : stride(like.words() * CellBits::kWord), at(stride * (like.height() + 4), 0) {}
  std::uint8_t *row(int y) { return at.data() + stride * (y + 2); }
  std::ptrdiff_t stride;
  std::vector<std::uint8_t> at;
};

TEST(CellBits, CellsBelowALevel) {
  for_random_cells([](const Naive &cells, const CellBits &bits) {
    Levels levels(bits);
    for (std::uint8_t &level : levels.at) level = static_cast<std::uint8_t>(below(256));
    const int limit = below(256);
    CellBits dark = bits;
    dark.add_below(levels.row(0), static_cast<std::uint8_t>(limit));
    expect_cells(dark,
                 [&](int x, int y) { return cells.get(x, y) || levels.row(y)[x + 1] < limit; });
    int outside = 0;
    for (int y = 0; y < cells.height; ++y)
      for_runs(dark.row(y), dark.words(),
               [&](int begin, int end) { outside += begin < 0 || end > cells.width; });
    EXPECT_EQ(outside, 0);
  });
}

TEST(CellPieces, AreConnectedBySides) {
  for_random_cells([](const Naive &cells, const CellBits &bits) {
    CellPieces pieces;
    pieces.find(bits);
    Naive numbers(cells.width, cells.height);  // of the pieces, from 1 on
    for (int piece = 0; piece < pieces.count(); ++piece)
      for (const CellRun *run = pieces.begin(piece); run < pieces.end(piece); ++run) {
        EXPECT_TRUE(run == pieces.begin(piece) || run[-1].y <= run->y);
        for (int x = run->begin; x < run->end; ++x) numbers(x, run->y) = piece + 1;
      }
    Naive left = cells;
    int count = 0;
    for (int at = 0; at < cells.width * cells.height; ++at) {
      if (!left.at[at]) continue;
      ++count;
      std::vector<int> piece{at};
      left.at[at] = 0;
      for (std::size_t i = 0; i < piece.size(); ++i) {
        const int x = piece[i] % cells.width, y = piece[i] / cells.width;
        ASSERT_EQ(numbers.at[piece[i]], numbers.at[at]);
        for (const auto &[dx, dy] : {std::pair{1, 0}, {-1, 0}, {0, 1}, {0, -1}}) {
          if (!left.get(x + dx, y + dy)) continue;
          left(x + dx, y + dy) = 0;
          piece.push_back((y + dy) * cells.width + x + dx);
        }
      }
    }
    EXPECT_EQ(pieces.count(), count);
    for (std::size_t i = 0; i < cells.at.size(); ++i)
      EXPECT_EQ(numbers.at[i] != 0, cells.at[i] != 0);
  });
}

TEST(NearestLevels, ArePassedOnFromCellToCell) {
  NearestLevels nearest;
  for_random_cells([&](const Naive &cells, const CellBits &bits) {
    const int width = cells.width, height = cells.height;
    Levels levels(bits);
    Naive from(width, height), distances(width, height), expected(width, height);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        from(x, y) = levels.row(y)[x + 1] = static_cast<std::uint8_t>(below(256));
    constexpr int kFar = 1 << 28;
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        distances(x, y) = cells.get(x, y) ? kFar : 0;
        for (int i = 0; i < 25 && !cells.get(x, y); ++i) {
          const int near_x = x + i % 5 - 2, near_y = y + i / 5 - 2;
          if (!cells.get(near_x, near_y))
            expected(x, y) = std::max(expected(x, y), from.get(near_x, near_y));
        }
      }
    const auto pass = [&](int x, int y, int sign) {
      for (const auto &[dx, dy] : {std::pair{-1, 0}, {-1, -1}, {0, -1}, {1, -1}}) {
        const int near_x = x + sign * dx, near_y = y + sign * dy;
        if (near_x < 0 || near_y < 0 || near_x >= width || near_y >= height) continue;
        const int distance = distances(near_x, near_y) + (dx == 0 || dy == 0 ? 3 : 4);
        if (distance >= distances(x, y)) continue;
        distances(x, y) = distance;
        expected(x, y) = expected(near_x, near_y);
      }
    };
    for (int i = 0; i < width * height; ++i) pass(i % width, i / width, 1);
    for (int i = width * height; --i >= 0;) pass(i % width, i / width, -1);
    CellBits edge = bits, space;
    space.shape(width, height);
    edge.grow(space);
    edge.remove(bits);
    nearest.fill(bits, edge, levels.row(0));
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        if (cells.get(x, y)) {
          ASSERT_EQ(levels.row(y)[x + 1], expected(x, y)) << x << ' ' << y << " of " << width;
        }
  });
}

/// Adds edges like the outermost cells of the reduced copy.
void add_edges(const Image &page, int cell, Copies &to) {
  const auto levels = to.reduced.plane<const std::uint8_t>();
  const int across = page.width / cell, down = page.height / cell;
  for (Image *image : {&to.edges.top, &to.edges.bottom}) image->shape(across, 1, 8);
  for (Image *image : {&to.edges.left, &to.edges.right}) image->shape(1, down, 8);
  for (int x = 0; x < across; ++x) {
    to.edges.top.plane<std::uint8_t>().row(0)[x] = levels.row(0)[x];
    to.edges.bottom.plane<std::uint8_t>().row(0)[x] = levels.row(levels.height - 1)[x];
  }
  for (int y = 0; y < down; ++y) {
    to.edges.left.plane<std::uint8_t>().row(y)[0] = levels.row(y)[0];
    to.edges.right.plane<std::uint8_t>().row(y)[0] = levels.row(y)[levels.width - 1];
  }
}

/// The box of the cells that are not border, each of them turned back.
Box naive_inside(const Border &border, const Image &page, double angle) {
  const int cell = border.cell();
  const TurnedBack turned(page.width, page.height, angle);
  std::vector<int> columns(page.width / cell + 1, 0), rows(page.height / cell + 1, 0);
  const auto count = [&](double at, std::vector<int> &counts) {
    if (at >= 0 && at / cell < static_cast<double>(counts.size()))
      ++counts[static_cast<int>(at / cell)];
  };
  for (int y = 0; y < page.height / cell; ++y)
    for (int x = 0; x < page.width / cell; ++x) {
      if (border.has(x * cell, y * cell)) continue;
      const double middle_x = (x + 0.5) * cell, middle_y = (y + 0.5) * cell;
      count(turned.x(middle_x, middle_y), columns);
      count(turned.y(middle_x, middle_y), rows);
    }
  const auto ends = [&](const std::vector<int> &counts, int pixels) {
    const int enough = *std::max_element(counts.begin(), counts.end()) / (angle != 0 ? 2 : 20);
    int first = 0, last = static_cast<int>(counts.size()) - 1;
    while (counts[first] <= enough) ++first;
    while (counts[last] <= enough) --last;
    return std::pair{std::max(0, (first - 1) * cell), std::min(pixels, (last + 2) * cell)};
  };
  const auto [left, right] = ends(columns, page.width);
  const auto [top, bottom] = ends(rows, page.height);
  return {left, top, right, bottom};
}

TEST(Border, BoxOfWhatIsInside) {
  Border border;
  for (const auto &[by_x, by_y] : {std::pair{8, 2}, {12, 3}, {4, 1}, {2, 1}}) {
    SCOPED_TRACE(by_x);
    Image page;
    Copies copies;
    Image &copy = copies.reduced;
    page.width = by_x * 310 + by_x / 2;
    page.height = by_x * 438 + 1;
    page.resolution = {300, 300};
    copy.shape(page.width / by_x, page.height / by_y, 8);
    const auto levels = copy.plane<std::uint8_t>();
    for (int y = 0; y < copy.height; ++y)
      for (int x = 0; x < copy.width; ++x) {
        const int row = y * by_y / by_x;  // of cells; the sheet leans
        const bool is_sheet = x > 20 + row / 12 && x < 250 + row / 15 && row > 15 + x / 20 &&
                              std::abs(row - 200) > 12 - x / 4;
        levels.row(y)[x] = static_cast<std::uint8_t>(is_sheet ? 220 + below(30) : below(20));
      }
    add_edges(page, by_x, copies);
    const double share = border.find(page, copies, by_x, by_y);
    ASSERT_GT(share, 0.1);
    for (const double angle : {0., 0.01, -0.4, 1.7, -5., 10.99, -11.})
      EXPECT_EQ(border.inside(page, angle), naive_inside(border, page, angle)) << angle;
  }
}

}  // namespace
}  // namespace cudascan::scan
