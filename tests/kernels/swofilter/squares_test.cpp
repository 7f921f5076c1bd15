// SPDX-License-Identifier: LGPL-2.1-or-later
// Order statistics, trimmed means and modes on the CPU for squares of pixels at a time, and modes
// of crosses for several rows at a time, against the sorted samples of each window.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/swofilter.h"
#include "tests/kernels/operator_test.h"
#include "tests/kernels/swofilter/describe.h"
#include "tests/kernels/swofilter/window_oracle.h"

namespace cudascan {
namespace {

using namespace test;
using Op = SwoFilterOperator;
using Border = SwoFilterBorder;

int answer_of(const std::vector<int> &sorted, const SwoFilterParams &p) {
  const auto n = static_cast<int>(sorted.size());
  if (p.op == Op::median) return sorted[n / 2];
  if (p.op == Op::rank)
    return sorted[std::min(static_cast<int>(n * p.percentile / 100 + 1e-9), n - 1)];
  if (p.op == Op::alpha_trimmed_mean) {
    const int trimmed = std::min(static_cast<int>(n * p.alpha + 1e-9), (n - 1) / 2);
    long sum = 0;
    for (int i = trimmed; i < n - trimmed; ++i) sum += sorted[i];
    const long taken = n - 2 * trimmed;
    return static_cast<int>((2 * sum + taken) / (2 * taken));
  }
  int mode = 0, most = 0;
  for (int i = 0; i < n;) {
    int end = i;
    while (end < n && sorted[end] == sorted[i]) ++end;
    if (end - i > most) mode = sorted[i], most = end - i;
    i = end;
  }
  return mode;
}

/// Compares every few pixels; all columns and rows of a square come.
template <typename T>
void expect_answers(const Image<T> &in, const SwoFilterParams &p, int every = 11) {
  SCOPED_TRACE(testing::Message() << p << ", " << 8 * sizeof(T) << " bits");
  Image<T> out(in.width(), in.height(), {3, 1}, in.plane().maximum);
  CpuRunner runner(2);
  runner(in, out, p);
  ASSERT_TRUE(out.guards_intact());
  const auto cells = window_oracle::cells_of(p);
  for (int i = 0; i < in.width() * in.height(); i += every) {
    const int x = i % in.width(), y = i / in.width();
    std::vector<int> samples;
    for (const auto &[dx, dy] : cells) {
      const int column = window_oracle::inside(x + dx, in.width(), p.border);
      const int row = window_oracle::inside(y + dy, in.height(), p.border);
      if (column < in.width() && row < in.height())
        samples.push_back(in.at(column, row));
      else if (p.border == Border::constant)
        samples.push_back(p.border_value);
    }
    std::sort(samples.begin(), samples.end());
    ASSERT_EQ(out.at(x, y), samples.empty() ? in.at(x, y) : answer_of(samples, p))
        << x << ", " << y;
  }
}

template <typename T>
Image<T> picture(Content content, int width, int height, int seed) {
  constexpr T kMost = std::numeric_limits<T>::max();
  return Image<T>(make_content<T>(content, width, height, kMost, seed), width, height,
                  kLayouts[seed % std::size(kLayouts)]);
}
/// Noise: many samples are as frequent as others.
template <typename T>
Image<T> noise(int levels, int width, int height) {
  std::vector<T> samples;
  for (const int sample : make_content<std::uint16_t>(Content::random, width, height, 65535))
    samples.push_back(static_cast<T>(sample % levels + 7));
  return Image<T>(samples, width, height);
}

/// Every second cell is on, except for rows without any.
std::string spotted(int width, int height) {
  std::string text;
  for (int y = 0; y < height; ++y, text += y < height ? ";" : "")
    for (int x = 0; x < width; ++x) text += "01"[y % 9 != 4 && (x + y * 3) % 5 % 2 == 0];
  return text;
}
/// Nearly all cells are on: all windows of a square have samples.
std::string pierced(int width, int height) {
  std::string text;
  for (int y = 0; y < height; ++y, text += y < height ? ";" : "")
    for (int x = 0; x < width; ++x) text += "01"[(x * 7 + y * 5) % 83 != 3];
  return text;
}
/// Cells are on above the middle only.
std::string upper(int width, int height) {
  std::string text;
  for (int y = 0; y < height; ++y, text += y < height ? ";" : "")
    for (int x = 0; x < width; ++x) text += "01"[2 * y + 1 < height && (x + y) % 2 == 0];
  return text;
}

constexpr Content kPictures[] = {Content::random, Content::text, Content::gray, Content::clipped};

TEST(SwoFilterSquares, EqualSortedSamplesOfBytes) {
  const SwoFilterParams windows[] = {
      {.op = Op::mode, .window_width = 33, .window_height = 47, .shape = "ellipse"},
      {.op = Op::mode, .window = 101, .shape = "ellipse"},
      {.op = Op::mode, .window_width = 45, .window_height = 63, .shape = "cross"},
      {.op = Op::alpha_trimmed_mean, .window = 25, .shape = "ellipse", .alpha = 0.2},
      {.op = Op::alpha_trimmed_mean,
       .window_width = 61,
       .window_height = 33,
       .shape = "ellipse",
       .alpha = 0.5},
      {.op = Op::alpha_trimmed_mean, .window = 67, .shape = "cross", .alpha = 0.05},
      {.op = Op::alpha_trimmed_mean, .shape = spotted(31, 29), .alpha = 0},
      {.op = Op::rank, .shape = spotted(31, 31), .percentile = 80},
      {.op = Op::median, .shape = spotted(25, 31)},
      {.op = Op::median, .shape = pierced(21, 23)}};
  int i = 0;
  for (SwoFilterParams p : windows)
    for (const Content content : kPictures) {
      p.border = static_cast<Border>(i % 4), p.border_value = 200;
      expect_answers(picture<std::uint8_t>(content, 83, 70 + i % 3, i), p);
      if (HasFailure()) return;
      ++i;
    }
}

TEST(SwoFilterSquares, EqualSortedSamplesOfWords) {
  const SwoFilterParams windows[] = {
      {.op = Op::alpha_trimmed_mean, .shape = spotted(31, 29), .alpha = 0.1},
      {.op = Op::alpha_trimmed_mean, .shape = pierced(31, 31), .alpha = 0.5},
      {.op = Op::rank, .shape = spotted(31, 31), .percentile = 100},
      {.op = Op::median, .shape = pierced(25, 31)},
      {.op = Op::mode, .shape = spotted(31, 29)},
      {.op = Op::mode, .shape = pierced(21, 23)}};
  int i = 0;
  for (SwoFilterParams p : windows)
    for (const Content content : kPictures) {
      p.border = static_cast<Border>(i % 4), p.border_value = 20000;
      expect_answers(picture<std::uint16_t>(content, 83, 70 + i % 3, i), p);
      p.border_value = 9;
      expect_answers(noise<std::uint16_t>(i % 2 ? 5 : 40, 70, 75), p);
      if (HasFailure()) return;
      ++i;
    }
}

/// Several tiles, next to and below one another, and parts of squares.
TEST(SwoFilterSquares, EqualSortedSamplesOfSeveralTiles) {
  for (const Op op : {Op::median, Op::alpha_trimmed_mean, Op::mode}) {
    const SwoFilterParams p{.op = op, .shape = pierced(21, 23), .alpha = 0.3};
    expect_answers(noise<std::uint8_t>(99, 531, 259), p, 97);
    expect_answers(noise<std::uint16_t>(9999, 139, 203), p, 41);
  }
}

TEST(SwoFilterSquares, WindowsWithoutSamplesGiveThePixel) {
  for (const Op op : {Op::median, Op::alpha_trimmed_mean, Op::mode}) {
    const SwoFilterParams p{.op = op, .shape = upper(31, 31), .border = Border::clip, .alpha = 0.1};
    expect_answers(picture<std::uint8_t>(Content::random, 41, 30, 1), p, 1);
    expect_answers(picture<std::uint16_t>(Content::random, 41, 30, 1), p, 1);
  }
}

/// The samples that all windows of a square have are equal, and above all others.
TEST(SwoFilterSquares, FindModesThatAllWindowsHave) {
  constexpr int kWidth = 57, kHeight = 57;
  const auto is_corner = [](int x, int y, int width, int height) {
    return (x == 0 || x == width - 1) && (y == 0 || y == height - 1);
  };
  std::string shape;
  for (int y = 0; y < 23; ++y, shape += y < 23 ? ";" : "")
    for (int x = 0; x < 21; ++x) shape += "10"[is_corner(x, y, 21, 23)];
  std::vector<std::uint16_t> samples =
      make_content<std::uint16_t>(Content::random, kWidth, kHeight, 50000);
  // Those of the square from (24, 24) on.
  for (int y = 0; y < 16; ++y)
    for (int x = 0; x < 14; ++x)
      if (!is_corner(x, y, 14, 16)) samples[(y + 20) * kWidth + x + 21] = 60000;
  expect_answers(Image<std::uint16_t>(samples, kWidth, kHeight), {.op = Op::mode, .shape = shape},
                 1);
}

/// Of those samples that only some windows of a square have, in the middle of the image, 8 x 255
/// have each of two values by turns: as many as bytes can count, without rest.
TEST(SwoFilterSquares, CountMoreThanBytesCan) {
  constexpr int kWidth = 270, kHeight = 262;
  std::vector<std::uint8_t> samples;
  for (int i = 0; i < kWidth * kHeight; ++i)
    samples.push_back(static_cast<std::uint8_t>(100 + i % kWidth % 2));
  const Image<std::uint8_t> turns(samples, kWidth, kHeight);
  const Image<std::uint8_t> flat(std::vector<std::uint8_t>(kWidth * kHeight, 100), kWidth, kHeight);
  for (const int width : {253, 251}) {
    const SwoFilterParams p{.op = Op::mode,
                            .window_width = width,
                            .window_height = 504 - width,
                            .shape = "cross",
                            .border = Border::clip};
    expect_answers(turns, p, 7);
    expect_answers(flat, p, 67);
  }
}

/// Modes of crosses of words, with the longer line across or down.
TEST(SwoFilterCrossModes, EqualSortedSamples) {
  int i = 0;
  for (const Size window : {Size{45, 63}, {9, 67}, {67, 9}, {255, 101}, {3, 41}})
    for (const Content content : kPictures) {
      const SwoFilterParams p{.op = Op::mode,
                              .window_width = window.width,
                              .window_height = window.height,
                              .shape = "cross",
                              .border = static_cast<Border>(i % 4),
                              .border_value = 9};
      expect_answers(picture<std::uint16_t>(content, 150, 71, i), p, 7);
      expect_answers(noise<std::uint16_t>(i % 2 ? 5 : 300, 71, 150), p, 7);
      if (HasFailure()) return;
      ++i;
    }
}

}  // namespace
}  // namespace cudascan
