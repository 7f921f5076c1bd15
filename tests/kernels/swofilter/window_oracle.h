// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The window of a pixel as the text of kernels/swofilter.h defines it, sample by sample. Positions
/// outside the image are found by walking back and forth inside.
#pragma once
#include <algorithm>
#include <cmath>
#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "kernels/swofilter.h"
#include "tests/kernels/operator_test.h"
#include "tests/kernels/swofilter/describe.h"

namespace cudascan::test::window_oracle {

/// Windows that are not rectangles: flat and high ones, and masks with holes.
struct Shape {
  int width, height;
  const char *cells;
};
inline constexpr Shape kShapes[] = {{3, 3, "ellipse"},
                                    {9, 31, "ellipse"},
                                    {63, 17, "ellipse"},
                                    {5, 3, "cross"},
                                    {33, 33, "cross"},
                                    {15, 255, "cross"},
                                    {255, 31, "cross"},
                                    {15, 15, "octagon"},
                                    {31, 27, "hexagon"},
                                    {0, 0, "100;000;011;111;110"},
                                    {0, 0, "1111111111111;0100000000000;1000000000001"}};

/// The cells of a window that are on, relative to the middle.
using Cells = std::vector<std::pair<int, int>>;

inline Cells cells_of(const SwoFilterParams &p) {
  Cells cells;
  const int width = p.window_width ? p.window_width : p.window,
            height = p.window_height ? p.window_height : p.window;
  const int rx = width / 2, ry = height / 2;
  constexpr const char *kNames[] = {"rectangle", "ellipse", "cross", "octagon", "hexagon"};
  if (std::find(std::begin(kNames), std::end(kNames), p.shape) == std::end(kNames)) {
    std::vector<std::string> rows;
    std::istringstream text(p.shape);
    for (std::string row; std::getline(text, row, ';');) rows.push_back(row);
    for (int y = 0; y < static_cast<int>(rows.size()); ++y)
      for (int x = 0; x < static_cast<int>(rows[y].size()); ++x)
        if (rows[y][x] == '1')
          cells.emplace_back(x - static_cast<int>(rows[y].size()) / 2,
                             y - static_cast<int>(rows.size()) / 2);
    return cells;
  }
  for (int y = -ry; y <= ry; ++y)
    for (int x = -rx; x <= rx; ++x) {
      bool on = true;
      if (p.shape == "cross") on = x == 0 || y == 0;
      if (p.shape == "ellipse" && ry > 0)
        on = std::abs(x) <= std::lround(rx * std::sqrt(static_cast<double>(ry * ry - y * y)) / ry);
      // Sides of polygons cut corners off a window that reaches half a cell beyond the last ones.
      const double right = width / 2.0, top = height / 2.0;
      if (p.shape == "octagon")  // a corner is 1 - sqrt(1/2) times as large as in a square
        on = (right - std::abs(x)) + (top - std::abs(y)) >=
             std::min(width, height) * (1 - std::sqrt(0.5));
      if (p.shape == "hexagon")  // on the left of the line from (right, 0) to (right / 2, top)
        on = (std::abs(x) - right) * top <= -std::abs(y) * right / 2;
      if (on) cells.emplace_back(x, y);
    }
  return cells;
}

inline Cells turned(Cells cells) {
  for (auto &[x, y] : cells) x = -x, y = -y;
  return cells;
}

/// The levels of an image, row by row.
struct Levels {
  int width, height;
  std::vector<int> level;

  int operator()(int x, int y) const { return level[std::size_t(y) * width + x]; }
};

/// The column or row inside the image that is used for i; n if there is none.
inline int inside(int i, int n, SwoFilterBorder border) {
  if (i >= 0 && i < n) return i;
  if (border == SwoFilterBorder::replicate) return std::clamp(i, 0, n - 1);
  if (border != SwoFilterBorder::reflect) return n;
  // Walks from the nearest edge inwards. The edge itself counts as the first step.
  int position = i < 0 ? 0 : n - 1, direction = i < 0 ? 1 : -1;
  for (int steps = i < 0 ? -1 - i : i - n; steps > 0; --steps) {
    if (position + direction < 0 || position + direction >= n)
      direction = -direction;
    else
      position += direction;
  }
  return position;
}

/// The samples of a window.
inline std::vector<int> found(const Levels &image, const Cells &cells, int x, int y,
                              const SwoFilterParams &p) {
  std::vector<int> samples;
  for (const auto &[dx, dy] : cells) {
    const int column = inside(x + dx, image.width, p.border),
              row = inside(y + dy, image.height, p.border);
    if (column < image.width && row < image.height)
      samples.push_back(image(column, row));
    else if (p.border == SwoFilterBorder::constant)
      samples.push_back(p.border_value);
  }
  return samples;
}

/// Computes each pixel of an image from the samples of its window and its own level.
inline Levels filtered(const Levels &image, const Cells &cells, const SwoFilterParams &p,
                       const std::function<int(const std::vector<int> &, int)> &result) {
  Levels out{image.width, image.height, {}};
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x)
      out.level.push_back(result(found(image, cells, x, y, p), image(x, y)));
  return out;
}

/// Compares run() on the CPU with oracle(levels, params, most) in a format.
template <typename T, typename Oracle>
void check(const Oracle &oracle, SwoFilterParams p, T maximum, Content content, Size size,
           CpuRunner &runner) {
  const int shift = unused_low_bits(maximum), most = maximum >> shift;
  if (p.border_value > most) p.border_value = most;
  SCOPED_TRACE(testing::Message() << p << ", maximum " << +maximum << ", content "
                                  << static_cast<int>(content) << ", " << size.width << "x"
                                  << size.height);
  const auto samples = make_content<T>(content, size.width, size.height, maximum);
  Levels levels{size.width, size.height, {}};
  for (const T sample : samples) levels.level.push_back(sample >> shift);
  std::vector<T> expected;
  for (const int level : oracle(levels, p, most).level)
    expected.push_back(static_cast<T>(level << shift));
  const Image<T> in(samples, size.width, size.height, {5, 3}, maximum);
  const auto got = outcome<T>(runner, in, Layout{3, 127}, maximum, p, 0x77);
  ASSERT_TRUE(same(expected, got.samples, size.width)) << got.refused;
}

/// The same for 8 bits and, in turn, for the formats with 16 bits.
template <typename Oracle>
void check_formats(const Oracle &oracle, const SwoFilterParams &p, Content content, Size size,
                   CpuRunner &runner, int turn) {
  constexpr std::uint16_t kMaxima[] = {0xffff, 0x3ff, 0xffc0};
  check<std::uint8_t>(oracle, p, 0xff, content, size, runner);
  check<std::uint16_t>(oracle, p, kMaxima[turn % 3], content, size, runner);
}

inline constexpr SwoFilterBorder kBorders[] = {SwoFilterBorder::clip, SwoFilterBorder::replicate,
                                               SwoFilterBorder::reflect, SwoFilterBorder::constant};

/// Windows of all kinds: small, larger than kSmallSizes, with and without their middle.
inline const std::vector<SwoFilterParams> &windows() {
  static const std::vector<SwoFilterParams> windows = {
      {.window = 1},
      {.window = 3},
      {.window = 5},
      {.window = 9},
      {.window = 17},
      {.window = 3, .window_width = 19, .window_height = 1},
      {.window = 3, .window_width = 1, .window_height = 21},
      {.window = 3, .window_width = 65, .window_height = 7},
      {.window = 3, .shape = "ellipse"},
      {.window = 7, .shape = "ellipse"},
      {.window = 3, .window_width = 23, .window_height = 9, .shape = "ellipse"},
      {.window = 3, .window_width = 5, .window_height = 1, .shape = "ellipse"},
      {.window = 5, .shape = "cross"},
      {.window = 3, .window_width = 9, .window_height = 13, .shape = "cross"},
      {.window = 7, .shape = "octagon"},
      {.window = 3, .window_width = 9, .window_height = 15, .shape = "hexagon"},
      {.shape = "1"},
      {.shape = "100"},
      {.shape = "1;1;0"},
      {.shape = "0;0;1;1;1"},
      {.shape = "0;1;1;1;0;0;0"},
      {.shape = "1110000;1110000;0000000"},
      {.shape = "010;111;010"},
      {.shape = "101;000;101"},
      {.shape = "0000001;0000000;1000010"},
      {.shape = "11011;01110;10001;00000;00111"},
      {.shape = "1111111111111111111;0000000000000000001;1110000000000001111"},
  };
  return windows;
}

inline constexpr Size kSmallSizes[] = {{1, 1}, {2, 3}, {19, 1}, {1, 17}, {33, 7}, {70, 21}};

}  // namespace cudascan::test::window_oracle
