// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/swofilter/window_oracle.h"

namespace cudascan::test {
namespace {

using Op = SwoFilterOperator;
using Border = SwoFilterBorder;
using window_oracle::Cells;
using window_oracle::filtered;
using window_oracle::Levels;

constexpr Op kOperators[] = {Op::minimum, Op::maximum, Op::midpoint, Op::erode,   Op::dilate,
                             Op::open,    Op::close,   Op::gradient, Op::top_hat, Op::black_hat};

/// The definitions in kernels/swofilter/extrema/extrema.h, taken literally.
Levels oracle(const Levels &in, const SwoFilterParams &p, int most) {
  const Cells cells = window_oracle::cells_of(p);
  const auto smallest = [](const std::vector<int> &v) {
    return *std::min_element(v.begin(), v.end());
  };
  const auto largest = [](const std::vector<int> &v) {
    return *std::max_element(v.begin(), v.end());
  };
  const auto erosion = [&](const Levels &image, const Cells &of) {
    return filtered(image, of, p,
                    [&](const auto &v, int) { return v.empty() ? most : smallest(v); });
  };
  const auto dilation = [&](const Levels &image, const Cells &of) {
    return filtered(image, of, p, [&](const auto &v, int) { return v.empty() ? 0 : largest(v); });
  };
  const auto difference = [](Levels a, const Levels &b) {
    for (std::size_t i = 0; i < a.level.size(); ++i)
      a.level[i] = std::max(a.level[i] - b.level[i], 0);
    return a;
  };
  const auto opened = [&] { return dilation(erosion(in, cells), window_oracle::turned(cells)); };
  const auto closed = [&] { return erosion(dilation(in, cells), window_oracle::turned(cells)); };
  switch (p.op) {
    case Op::minimum:
      return filtered(in, cells, p,
                      [&](const auto &v, int self) { return v.empty() ? self : smallest(v); });
    case Op::maximum:
      return filtered(in, cells, p,
                      [&](const auto &v, int self) { return v.empty() ? self : largest(v); });
    case Op::midpoint:
      return filtered(in, cells, p, [&](const auto &v, int self) {
        return v.empty() ? self : (smallest(v) + largest(v) + 1) / 2;
      });
    case Op::gradient:
      return filtered(in, cells, p,
                      [&](const auto &v, int) { return v.empty() ? 0 : largest(v) - smallest(v); });
    case Op::erode:
      return erosion(in, cells);
    case Op::dilate:
      return dilation(in, cells);
    case Op::open:
      return opened();
    case Op::close:
      return closed();
    case Op::top_hat:
      return difference(in, opened());
    default:
      return difference(closed(), in);
  }
}

/// The result for a row of 8-bit samples.
std::vector<int> of_row(const SwoFilterParams &p, const std::vector<std::uint8_t> &row) {
  const int n = static_cast<int>(row.size());
  CpuRunner runner(1);
  const auto got =
      outcome<std::uint8_t, std::uint8_t>(runner, Image<std::uint8_t>(row, n, 1), {}, 255, p, 0);
  return {got.samples.begin(), got.samples.end()};
}

using Ints = std::vector<int>;

TEST(SwoFilterExtrema, KnownRows) {
  const std::vector<std::uint8_t> row = {10, 7, 9, 9, 30, 31, 30, 2};
  const auto result = [&](Op op) { return of_row({.op = op, .window = 3}, row); };
  EXPECT_EQ(result(Op::minimum), (Ints{7, 7, 7, 9, 9, 30, 2, 2}));
  EXPECT_EQ(result(Op::erode), (Ints{7, 7, 7, 9, 9, 30, 2, 2}));
  EXPECT_EQ(result(Op::maximum), (Ints{10, 10, 9, 30, 31, 31, 31, 30}));
  EXPECT_EQ(result(Op::dilate), (Ints{10, 10, 9, 30, 31, 31, 31, 30}));
  EXPECT_EQ(result(Op::midpoint), (Ints{9, 9, 8, 20, 20, 31, 17, 16}));
  EXPECT_EQ(result(Op::gradient), (Ints{3, 3, 2, 21, 22, 1, 29, 28}));
  EXPECT_EQ(result(Op::open), (Ints{7, 7, 9, 9, 30, 30, 30, 2}));
  EXPECT_EQ(result(Op::close), (Ints{10, 9, 9, 9, 30, 31, 30, 30}));
  EXPECT_EQ(result(Op::top_hat), (Ints{3, 0, 0, 0, 0, 1, 0, 0}));
  EXPECT_EQ(result(Op::black_hat), (Ints{0, 2, 0, 0, 0, 0, 0, 28}));
}

TEST(SwoFilterExtrema, KnownBorders) {
  const std::vector<std::uint8_t> row = {5, 6, 7, 8};
  const auto result = [&](Op op, const char *mask, Border border) {
    return of_row({.op = op, .shape = mask, .border = border, .border_value = 9}, row);
  };
  // The mask has one pixel, two to the left.
  EXPECT_EQ(result(Op::minimum, "10000", Border::clip), (Ints{5, 6, 5, 6}));
  EXPECT_EQ(result(Op::maximum, "10000", Border::clip), (Ints{5, 6, 5, 6}));
  EXPECT_EQ(result(Op::midpoint, "10000", Border::clip), (Ints{5, 6, 5, 6}));
  EXPECT_EQ(result(Op::gradient, "10000", Border::clip), (Ints{0, 0, 0, 0}));
  EXPECT_EQ(result(Op::erode, "10000", Border::clip), (Ints{255, 255, 5, 6}));
  EXPECT_EQ(result(Op::dilate, "10000", Border::clip), (Ints{0, 0, 5, 6}));
  EXPECT_EQ(result(Op::erode, "10000", Border::replicate), (Ints{5, 5, 5, 6}));
  EXPECT_EQ(result(Op::erode, "10000", Border::reflect), (Ints{6, 5, 5, 6}));
  EXPECT_EQ(result(Op::erode, "10000", Border::constant), (Ints{9, 9, 5, 6}));
  // The second step uses the reflected mask, so it moves the samples back.
  EXPECT_EQ(result(Op::open, "10000", Border::clip), (Ints{5, 6, 0, 0}));
  EXPECT_EQ(result(Op::close, "10000", Border::clip), (Ints{5, 6, 255, 255}));
  EXPECT_EQ(result(Op::top_hat, "10000", Border::clip), (Ints{0, 0, 7, 8}));
}

TEST(SwoFilterExtrema, EqualsOracle) {
  CpuRunner one(1), three(3);
  constexpr int kBorderValues[] = {0, 100, 65535};
  int turn = 0;
  for (const SwoFilterParams &window : window_oracle::windows())
    for (const Op op : kOperators)
      for (const Border border : window_oracle::kBorders)
        for (const Size size : window_oracle::kSmallSizes) {
          SwoFilterParams p = window;
          p.op = op;
          p.border = border;
          p.border_value = kBorderValues[turn / 5 % 3];
          const Content content = ++turn % 4 == 0 ? Content::near_white : Content::random;
          window_oracle::check_formats(oracle, p, content, size, turn % 5 < 3 ? one : three,
                                       turn / 7);
          if (HasFatalFailure()) return;
        }
}

/// Images whose rows have several vectors, strips and bands.
TEST(SwoFilterExtrema, EqualsOracleOnLargerImages) {
  CpuRunner one(1), three(3);
  for (const SwoFilterParams &window : window_oracle::windows())
    for (const Op op : {Op::close, Op::minimum, Op::midpoint}) {
      SwoFilterParams p = window;
      p.op = op;
      window_oracle::check<std::uint8_t>(oracle, p, 255, Content::random, {1100, 40}, one);
      p.border = Border::reflect;
      window_oracle::check<std::uint16_t>(oracle, p, 65535, Content::random, {131, 210}, three);
      if (HasFatalFailure()) return;
    }
}

TEST(SwoFilterExtrema, EqualsOracleOfLargestWindows) {
  CpuRunner one(1);
  for (const char *shape : {"rectangle", "ellipse", "cross"})
    for (const Border border : {Border::clip, Border::constant}) {
      const SwoFilterParams p{
          .op = Op::open, .window = 255, .shape = shape, .border = border, .border_value = 3};
      window_oracle::check<std::uint8_t>(oracle, p, 255, Content::random, {30, 9}, one);
      window_oracle::check<std::uint16_t>(oracle, p, 65535, Content::near_white, {4, 45}, one);
      if (HasFatalFailure()) return;
    }
}

/// The result for 8-bit samples.
std::vector<std::uint8_t> result(const SwoFilterParams &p, const std::vector<std::uint8_t> &samples,
                                 Size size) {
  CpuRunner runner(2);
  return outcome<std::uint8_t>(runner, Image<std::uint8_t>(samples, size.width, size.height), {},
                               std::uint8_t{255}, p, 0)
      .samples;
}

/// A filter with a rectangle is a filter with its width after one with its height. 3840 columns are
/// several strips.
TEST(SwoFilterExtrema, LargeWindowsAreStepsOfSmallOnes) {
  constexpr Size kSize{3840, 300};
  const auto samples = make_content<std::uint8_t>(Content::random, kSize.width, kSize.height, 255);
  for (const Op op : {Op::erode, Op::dilate})
    for (const int window : {33, 129, 255}) {
      auto expected = samples;
      for (int left = window - 1; left > 0; left -= std::min(left, 16))
        expected = result({.op = op, .window = std::min(left, 16) + 1}, expected, kSize);
      EXPECT_TRUE(same(expected, result({.op = op, .window = window}, samples, kSize), kSize.width))
          << window;
    }
}

TEST(SwoFilterExtrema, OpeningsAreOpenings) {
  constexpr Size kSize{613, 217};
  const auto samples = make_content<std::uint8_t>(Content::text, kSize.width, kSize.height, 255);
  auto complement = samples;
  for (auto &sample : complement) sample = static_cast<std::uint8_t>(255 - sample);
  for (const char *shape : {"rectangle", "ellipse", "cross", "11011;01110;10001;00000;00111"})
    for (const int window : {3, 21, 101}) {
      const SwoFilterParams open{.op = Op::open, .window = window, .shape = shape},
          close{.op = Op::close, .window = window, .shape = shape};
      const auto opened = result(open, samples, kSize);
      EXPECT_TRUE(same(opened, result(open, opened, kSize), kSize.width)) << shape << window;
      auto closed = result(close, complement, kSize);
      for (std::size_t i = 0; i < closed.size(); ++i) {
        ASSERT_LE(opened[i], samples[i]) << shape << window;
        closed[i] = static_cast<std::uint8_t>(255 - closed[i]);
      }
      EXPECT_TRUE(same(opened, closed, kSize.width)) << shape << window;
    }
}

#ifdef HAVE_CUDA
/// Sizes near what threads and blocks process at a time: 16 rows, multiples of 8 rows, and 128
/// bytes of a row.
TEST(SwoFilterExtrema, CudaEqualsCpuAroundItsCuts) {
  NEED_GPU();
  constexpr Size kWindows[] = {{3, 3},   {9, 5},    {15, 15},  {17, 1},  {3, 17},
                               {31, 19}, {33, 129}, {255, 27}, {1, 255}, {255, 255}};
  constexpr Size kSizes[] = {{1, 1}, {16, 15}, {127, 17}, {129, 4}, {3, 129}, {5, 257}};
  int turn = 0;
  for (const Size window : kWindows)
    for (const Size size : kSizes) {
      const SwoFilterParams p{.op = ++turn % 2 ? Op::minimum : Op::black_hat,
                              .window_width = window.width,
                              .window_height = window.height,
                              .border = turn % 3 ? Border::clip : Border::constant,
                              .border_value = 77};
      const Layout layout = turn % 4 ? Layout{.unit = 256} : Layout{0, 1};
      expect_cuda_equals_cpu_of<std::uint8_t>(p, size, layout);
      expect_cuda_equals_cpu_of<std::uint16_t>(p, {size.height, size.width}, layout);
      if (HasFailure()) return;
    }
}

/// One launch computes both extrema of small rectangles. Squares of 3x3 and 5x5 have a kernel of
/// their own for aligned 16-bit samples.
TEST(SwoFilterExtrema, CudaEqualsCpuOfBothExtrema) {
  NEED_GPU();
  constexpr Size kWindows[] = {{3, 3}, {5, 5}, {3, 5}, {1, 3}, {7, 7}, {15, 15}, {9, 11}};
  constexpr Size kSizes[] = {{1, 1}, {3, 2}, {4, 5}, {9, 37}, {130, 33}, {257, 9}};
  int turn = 0;
  for (const Size window : kWindows)
    for (const Size size : kSizes)
      for (const Border border : window_oracle::kBorders) {
        ++turn;
        const SwoFilterParams p{.op = turn % 2 ? Op::midpoint : Op::gradient,
                                .window_width = window.width,
                                .window_height = window.height,
                                .border = border,
                                .border_value = 77};
        const Layout layout = turn % 5 ? Layout{.unit = 256} : Layout{0, 1};
        expect_cuda_equals_cpu_of<std::uint8_t>(p, size, layout);
        expect_cuda_equals_cpu_of<std::uint16_t>(p, size, layout, turn % 3 ? 0xffff : 0xffc0);
        if (HasFailure()) return;
      }
}

/// Shapes that are not rectangles, in images of several tiles, and far smaller than the window.
TEST(SwoFilterExtrema, CudaEqualsCpuOfShapes) {
  NEED_GPU();
  constexpr Size kSizes[] = {{1, 1}, {7, 3}, {129, 140}, {300, 33}};
  int turn = 0;
  for (const window_oracle::Shape &window : window_oracle::kShapes)
    for (const Size size : kSizes) {
      ++turn;
      const SwoFilterParams p{.op = turn % 3 == 0   ? Op::maximum
                                    : turn % 3 == 1 ? Op::top_hat
                                                    : Op::midpoint,
                              .window_width = window.width,
                              .window_height = window.height,
                              .shape = window.cells,
                              .border = window_oracle::kBorders[turn / 2 % 4],
                              .border_value = 77};
      const Layout layout = turn % 4 ? Layout{.unit = 256} : Layout{0, 1};
      expect_cuda_equals_cpu_of<std::uint8_t>(p, size, layout);
      expect_cuda_equals_cpu_of<std::uint16_t>(p, {size.height, size.width}, layout,
                                               turn % 2 ? 0xffff : 0xffc0);
      if (HasFailure()) return;
    }
}

/// Reflected samples beyond the other side of the image.
TEST(SwoFilterExtrema, CudaEqualsCpuOfWindowsWiderThanTheImage) {
  NEED_GPU();
  for (const char *shape : {"10100;00000;10101;00000;00111",
                            "1000000000001;0100000000010"
                            ";0000000000001"})
    for (const Border border : {Border::reflect, Border::replicate, Border::constant}) {
      const SwoFilterParams p{.op = Op::erode, .shape = shape, .border = border};
      expect_cuda_equals_cpu_of<std::uint8_t>(p, {1, 37}, {});
      expect_cuda_equals_cpu_of<std::uint16_t>(p, {2, 9}, {});
    }
}

/// Phases, as the samples of a tile do not fit into shared memory.
TEST(SwoFilterExtrema, CudaEqualsCpuOfLargestShapes) {
  NEED_GPU();
  for (const char *shape : {"ellipse", "cross", "octagon", "hexagon"}) {
    const SwoFilterParams p{.op = Op::open, .window = 255, .shape = shape};
    expect_cuda_equals_cpu_of<std::uint8_t>(p, {37, 290}, {.unit = 16});
    expect_cuda_equals_cpu_of<std::uint16_t>(p, {290, 37}, {});
  }
}
#endif

CHECK_OPERATOR(SwoFilterExtrema, SwoFilterParams, {.op = SwoFilterOperator::minimum},
               {.op = SwoFilterOperator::midpoint, .window = 15},
               {.op = SwoFilterOperator::erode, .window = 255},
               {.op = SwoFilterOperator::dilate,
                .window_width = 63,
                .window_height = 5,
                .border = SwoFilterBorder::constant,
                .border_value = 200},
               {.op = SwoFilterOperator::open, .window = 9},
               {.op = SwoFilterOperator::close, .window = 101},
               {.op = SwoFilterOperator::top_hat, .window = 41, .shape = "ellipse"},
               {.op = SwoFilterOperator::black_hat,
                .window = 75,
                .shape = "cross",
                .border = SwoFilterBorder::constant},
               {.op = SwoFilterOperator::open,
                .shape = "11011;01110;10001;00000;00111",
                .border = SwoFilterBorder::reflect},
               {.op = SwoFilterOperator::midpoint, .shape = "0000001;0000000;1000010"},
               {.op = SwoFilterOperator::gradient, .shape = "100"});

}  // namespace
}  // namespace cudascan::test
