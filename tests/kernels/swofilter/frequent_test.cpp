// SPDX-License-Identifier: LGPL-2.1-or-later
// Modes of large windows on the CPU, which are looked for among the values that are frequent in a
// part of a tile, against counts of all samples.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "kernels/swofilter.h"
#include "tests/kernels/operator_test.h"
#include "tests/kernels/swofilter/describe.h"
#include "tests/kernels/swofilter/window_oracle.h"

namespace cudascan {
namespace {

using namespace test;
using Border = SwoFilterBorder;

/// The lowest of the most frequent samples of a window.
template <typename T>
T mode_of(const Image<T> &in, const SwoFilterParams &p, const window_oracle::Cells &cells, int x,
          int y) {
  const auto inside = [&](int i, int n) {
    if (p.border == Border::replicate) return std::clamp(i, 0, n - 1);
    if (p.border == Border::reflect)
      while (i < 0 || i >= n) i = i < 0 ? -1 - i : 2 * n - 1 - i;
    return i >= 0 && i < n ? i : -1;
  };
  std::map<int, int> counts;
  for (const auto &[dx, dy] : cells) {
    const int column = inside(x + dx, in.width()), row = inside(y + dy, in.height());
    if (column >= 0 && row >= 0)
      ++counts[in.at(column, row)];
    else if (p.border == Border::constant)
      ++counts[p.border_value];
  }
  if (counts.empty()) return in.at(x, y);
  return static_cast<T>(std::max_element(counts.begin(), counts.end(), [](auto &a, auto &b) {
                          return a.second < b.second;
                        })->first);
}

/// Compares some pixels of each block, those in its first and last rows among them.
template <typename T>
void expect_modes(const Image<T> &in, const SwoFilterParams &p, int n_threads = 1,
                  int columns = 21) {
  SCOPED_TRACE(testing::Message() << p);
  Image<T> out(in.width(), in.height(), {3, 1}, in.plane().maximum);
  CpuRunner runner(n_threads);
  runner(in, out, p);
  ASSERT_TRUE(out.guards_intact());
  const auto cells = window_oracle::cells_of(p);
  for (int y = 0; y < in.height(); y += y % 16 == 0 ? 15 : 1)
    for (int x = y % 5; x < in.width(); x += columns)
      ASSERT_EQ(out.at(x, y), mode_of(in, p, cells, x, y)) << x << ", " << y;
}

/// A mask with many runs; the middle is off, and so are some rows.
std::string spotted(int width, int height) {
  std::string text;
  for (int y = 0; y < height; ++y) {
    if (y > 0) text += ';';
    for (int x = 0; x < width; ++x)
      text += "01"[y % 9 != 4 && (x * 5 + y * 3) % 7 % 2 == 0 && (x != width / 2 || y % 2)];
  }
  return text;
}

/// Values that are rare everywhere, frequent everywhere, and as frequent as others; parts of tiles
/// with several blocks; windows that are higher or wider, and masks without the middle.
TEST(SwoFilterFrequent, EqualsCountsOfAllSamples) {
  SwoFilterParams windows[] = {{.window_width = 41, .window_height = 43, .shape = "ellipse"},
                               {.window_width = 63, .window_height = 91, .shape = "ellipse"},
                               {.window_width = 255, .window_height = 101, .shape = "ellipse"},
                               {.shape = spotted(31, 29)},
                               {.shape = spotted(13, 31)}};
  int i = 0;
  for (SwoFilterParams &p : windows)
    for (const Content content :
         {Content::random, Content::text, Content::gray, Content::clipped, Content::near_white}) {
      p.op = SwoFilterOperator::mode, p.border = static_cast<Border>(i % 4), p.border_value = 200;
      SCOPED_TRACE(testing::Message() << "content " << static_cast<int>(content));
      const Layout layout = kLayouts[i % std::size(kLayouts)];
      expect_modes(Image<std::uint16_t>(make_content<std::uint16_t>(content, 150, 83, 65535, i),
                                        150, 83, layout),
                   p, 1 + i % 2);
      expect_modes(Image<std::uint8_t>(make_content<std::uint8_t>(content, 83, 150, 255, i), 83,
                                       150, layout),
                   p, 1 + i % 2);
      if (HasFailure()) return;
      ++i;
    }
}

/// Noise of few levels: all of them are about as frequent, and many more often than a byte counts.
TEST(SwoFilterFrequent, CountsValuesThatAreAboutAsFrequent) {
  for (const int levels : {2, 12, 300}) {
    const auto noise = make_content<std::uint16_t>(Content::random, 140, 70, 65535);
    std::vector<std::uint16_t> samples;
    for (const int v : noise) samples.push_back(static_cast<std::uint16_t>(1000 + v % levels));
    for (const int window : {45, 127})
      expect_modes(Image<std::uint16_t>(samples, 140, 70),
                   {.op = SwoFilterOperator::mode, .window = window, .shape = "ellipse"});
  }
}

/// All values of 16 bits occur, each of them once or twice.
TEST(SwoFilterFrequent, FindsValuesThatOccurTwice) {
  constexpr int kWidth = 330, kHeight = 200;
  std::vector<std::uint16_t> samples;
  for (int i = 0; i < kWidth * kHeight; ++i)
    samples.push_back(static_cast<std::uint16_t>(i * 40503));
  expect_modes(Image<std::uint16_t>(samples, kWidth, kHeight),
               {.op = SwoFilterOperator::mode, .window = 255, .shape = "ellipse"}, 1, 167);
}

/// The lowest of two values that are as frequent, whichever comes first.
TEST(SwoFilterFrequent, TakesTheLowestOfSeveral) {
  constexpr int kWidth = 64, kHeight = 64;
  for (const bool turned : {false, true}) {
    std::vector<std::uint16_t> samples;
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x) samples.push_back((x + y + turned) % 2 ? 700 : 40000);
    const Image<std::uint16_t> in(samples, kWidth, kHeight);
    const SwoFilterParams p{
        .op = SwoFilterOperator::mode, .window = 127, .shape = "ellipse", .border = Border::clip};
    // Windows of these pixels have all samples.
    Image<std::uint16_t> out(kWidth, kHeight);
    CpuRunner()(in, out, p);
    for (const int at : {31, 32}) EXPECT_EQ(out.at(at, at), 700);
  }
}

}  // namespace
}  // namespace cudascan
