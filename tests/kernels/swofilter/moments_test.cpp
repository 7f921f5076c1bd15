// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/moments/moments.h"

#include "tests/kernels/swofilter/window_oracle.h"

namespace cudascan::test {
namespace {

using Op = SwoFilterOperator;
using Border = SwoFilterBorder;
using window_oracle::Levels;

/// The definitions in kernels/swofilter/moments/moments.h, taken literally. The deviation is
/// searched for among all levels.
Levels oracle(const Levels &in, const SwoFilterParams &p, int most) {
  using Int = __int128;
  return window_oracle::filtered(
      in, window_oracle::cells_of(p), p, [&](const std::vector<int> &v, int self) {
        const Int n = v.size();
        if (n == 0) return self;
        Int s = 0, q = 0;
        for (const int level : v) s += level, q += Int{level} * level;
        if (p.op == Op::mean) return static_cast<int>((2 * s + n) / (2 * n));
        int low = 0, high = most + 1;  // invariant: low <= deviation + 1/2 < high
        while (high - low > 1) {
          const Int middle = (low + high) / 2;
          // true if middle - 1/2 <= sqrt(n q - s s) / n
          if ((2 * middle - 1) * (2 * middle - 1) * n * n <= 4 * (n * q - s * s))
            low = static_cast<int>(middle);
          else
            high = static_cast<int>(middle);
        }
        return low;
      });
}

template <typename T>
std::vector<int> of_row(const SwoFilterParams &p, const std::vector<T> &row) {
  const int n = static_cast<int>(row.size());
  CpuRunner runner(1);
  const auto got =
      outcome<T, T>(runner, Image<T>(row, n, 1), {}, std::numeric_limits<T>::max(), p, 0);
  return {got.samples.begin(), got.samples.end()};
}

using Ints = std::vector<int>;

TEST(SwoFilterMoments, KnownRows) {
  const std::vector<std::uint8_t> row = {0, 1, 1, 255, 255, 250};
  EXPECT_EQ(of_row({.op = Op::mean}, row), (Ints{1, 1, 86, 170, 253, 253}));
  // 0 1: 1/2. 0 1 1: sqrt(2) / 3. 1 1 255: 254 sqrt(2) / 3 = 119.7. 255 255 250: 2.36; 255 250:
  // 2.5.
  EXPECT_EQ(of_row({.op = Op::standard_deviation}, row), (Ints{1, 0, 120, 120, 2, 3}));
}

TEST(SwoFilterMoments, KnownBorders) {
  const std::vector<std::uint8_t> row = {10, 20, 40};
  const auto result = [&](Op op, const char *mask, Border border) {
    return of_row({.op = op, .shape = mask, .border = border, .border_value = 100}, row);
  };
  EXPECT_EQ(result(Op::mean, "111", Border::clip), (Ints{15, 23, 30}));
  EXPECT_EQ(result(Op::mean, "111", Border::replicate), (Ints{13, 23, 33}));
  EXPECT_EQ(result(Op::mean, "111", Border::reflect), (Ints{13, 23, 33}));
  EXPECT_EQ(result(Op::mean, "11111", Border::reflect), (Ints{20, 24, 26}));
  EXPECT_EQ(result(Op::mean, "111", Border::constant), (Ints{43, 23, 53}));
  EXPECT_EQ(result(Op::standard_deviation, "111", Border::constant), (Ints{40, 12, 34}));
  // The mask has one pixel, two to the left; it may be outside.
  EXPECT_EQ(result(Op::mean, "10000", Border::clip), (Ints{10, 20, 10}));
  EXPECT_EQ(result(Op::standard_deviation, "10000", Border::clip), (Ints{10, 20, 0}));
}

TEST(SwoFilterMoments, EqualsOracle) {
  CpuRunner one(1), three(3);
  constexpr int kBorderValues[] = {0, 100, 65535};
  int turn = 0;
  for (const SwoFilterParams &window : window_oracle::windows())
    for (const Op op : {Op::mean, Op::standard_deviation})
      for (const Border border : window_oracle::kBorders)
        for (const Size size : window_oracle::kSmallSizes)
          for (const Content content : {Content::random, Content::near_white, Content::clipped}) {
            SwoFilterParams p = window;
            p.op = op;
            p.border = border;
            p.border_value = kBorderValues[turn / 5 % 3];
            ++turn;
            window_oracle::check_formats(oracle, p, content, size, turn % 5 < 3 ? one : three,
                                         turn / 7);
            if (HasFatalFailure()) return;
          }
}

/// Images whose rows have several blocks, strips and bands.
TEST(SwoFilterMoments, EqualsOracleOnLargerImages) {
  CpuRunner one(1), three(3);
  for (const SwoFilterParams &window : window_oracle::windows())
    for (const Op op : {Op::mean, Op::standard_deviation}) {
      SwoFilterParams p = window;
      p.op = op;
      window_oracle::check<std::uint8_t>(oracle, p, 255, Content::random, {1100, 40}, one);
      p.border = Border::reflect;
      window_oracle::check<std::uint16_t>(oracle, p, 65535, Content::random, {131, 210}, three);
      if (HasFatalFailure()) return;
    }
}

/// The largest possible sums.
TEST(SwoFilterMoments, EqualsOracleOfLargestWindows) {
  CpuRunner one(1);
  for (const char *shape : {"rectangle", "ellipse"})
    for (const Content content : {Content::white, Content::near_white, Content::checkerboard})
      for (const Op op : {Op::mean, Op::standard_deviation}) {
        const SwoFilterParams p{
            .op = op, .window = 255, .shape = shape, .border = Border::replicate};
        window_oracle::check<std::uint8_t>(oracle, p, 255, content, {14, 5}, one);
        window_oracle::check<std::uint16_t>(oracle, p, 65535, content, {5, 14}, one);
        if (HasFatalFailure()) return;
      }
}

/// Half of the window has one level and half another, with an odd difference: every deviation is a
/// tie.
TEST(SwoFilterMoments, Ties) {
  for (const int distance : {1, 3, 129, 255, 32767, 65535}) {
    const std::vector<std::uint16_t> row = {0, static_cast<std::uint16_t>(distance)};
    for (const int window : {3, 65, 255}) {
      EXPECT_EQ(of_row<std::uint16_t>({.op = Op::standard_deviation, .window = window}, row),
                (Ints{distance / 2 + 1, distance / 2 + 1}));
      EXPECT_EQ(of_row<std::uint16_t>({.op = Op::mean, .window = window}, row),
                (Ints{distance / 2 + 1, distance / 2 + 1}));
    }
    if (distance > 255) continue;
    const std::vector<std::uint8_t> small = {0, static_cast<std::uint8_t>(distance)};
    EXPECT_EQ(of_row<std::uint8_t>({.op = Op::standard_deviation}, small),
              (Ints{distance / 2 + 1, distance / 2 + 1}));
  }
}

/// For every sum that a window of this size can have, the mean is as the header defines it.
TEST(SwoFilterMoments, EveryMean) {
  constexpr int kWidth = 1021, kHeight = 64;
  // Levels that rise slowly from column to column, so that the sums of windows have all remainders.
  std::vector<std::uint8_t> samples;
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) samples.push_back(static_cast<std::uint8_t>((x + y * 7) / 5));
  for (const int window : {3, 15, 33, 101, 201, 255}) {
    const SwoFilterParams p{.op = Op::mean, .window = window, .border = Border::reflect};
    CpuRunner runner(1);
    const auto got = outcome<std::uint8_t>(runner, Image<std::uint8_t>(samples, kWidth, kHeight),
                                           {}, std::uint8_t{255}, p, 0);
    // Sums over columns, then over rows.
    const auto at = [&](int i, int n) { return window_oracle::inside(i, n, p.border); };
    std::vector<std::uint32_t> columns(kWidth);
    for (int y = 0; y < kHeight; ++y) {
      for (int x = 0; x < kWidth; ++x) {
        columns[x] = 0;
        for (int i = -window / 2; i <= window / 2; ++i)
          columns[x] += samples[at(y + i, kHeight) * kWidth + x];
      }
      for (int x = 0; x < kWidth; ++x) {
        std::uint32_t sum = 0;
        for (int i = -window / 2; i <= window / 2; ++i) sum += columns[at(x + i, kWidth)];
        ASSERT_EQ(got.samples[y * kWidth + x], swo::rounded_mean(sum, window * window))
            << window << ": " << x << ", " << y;
      }
    }
  }
}

#ifdef HAVE_CUDA
/// Windows whose column sums just fit into 16 bits, in images that need all of these bits.
TEST(SwoFilterMoments, CudaEqualsCpuOfHighWindowsOfBrightImages) {
  NEED_GPU();
  for (int height = 233; height <= 255; height += 2)
    for (const Size size : {Size{300, 611}, Size{40, 1000}}) {
      const SwoFilterParams p{.op = height % 4 == 1 ? Op::standard_deviation : Op::mean,
                              .window_width = 9,
                              .window_height = height};
      expect_cuda_equals_cpu_of<std::uint8_t>(p, size, {.unit = 256}, 0xff, Content::near_white);
      if (HasFailure()) return;
    }
}

/// Shapes that are not rectangles, in images of several tiles, and far smaller than the window.
/// Rows of 1100 pixels are more than a block adds up at a time.
TEST(SwoFilterMoments, CudaEqualsCpuOfShapes) {
  NEED_GPU();
  constexpr Size kSizes[] = {{1, 1}, {7, 3}, {129, 140}, {1100, 5}};
  int turn = 0;
  for (const window_oracle::Shape &window : window_oracle::kShapes)
    for (const Size size : kSizes) {
      ++turn;
      const SwoFilterParams p{.op = turn % 3 ? Op::standard_deviation : Op::mean,
                              .window_width = window.width,
                              .window_height = window.height,
                              .shape = window.cells,
                              .border = window_oracle::kBorders[turn / 2 % 4],
                              .border_value = 77};
      const Layout layout = turn % 4 ? Layout{.unit = 256} : Layout{0, 1};
      expect_cuda_equals_cpu_of<std::uint8_t>(p, size, layout);
      expect_cuda_equals_cpu_of<std::uint16_t>(p, {size.height, size.width}, layout,
                                               turn % 2 ? 0xffff : 0xffc0, Content::random);
      if (HasFailure()) return;
    }
}

/// Crosses with strips of each height, in images of tiles at both sides and between them, with all
/// borders. Rows begin at multiples of a vector, then anywhere.
TEST(SwoFilterMoments, CudaEqualsCpuOfCrosses) {
  NEED_GPU();
  constexpr Size kWindows[] = {{1, 3}, {11, 17}, {31, 65}, {5, 227}, {255, 255}};
  constexpr Content kContents[] = {Content::random, Content::near_white, Content::checkerboard};
  int turn = 0;
  for (const Size window : kWindows)
    for (const SwoFilterBorder border : window_oracle::kBorders)
      for (const Layout layout : {Layout{.unit = 256}, Layout{0, 1}}) {
        ++turn;
        const SwoFilterParams p{.op = turn % 3 ? Op::standard_deviation : Op::mean,
                                .window_width = window.width,
                                .window_height = window.height,
                                .shape = "cross",
                                .border = border,
                                .border_value = 77};
        const Content content = kContents[turn / 2 % 3];
        expect_cuda_equals_cpu_of<std::uint8_t>(p, {1030, 35}, layout, 0xff, content);
        expect_cuda_equals_cpu_of<std::uint16_t>(p, {800, 19}, layout, turn % 2 ? 0xffff : 0xffc0,
                                                 content);
        if (HasFailure()) return;
      }
}

/// The largest sums, in several phases.
TEST(SwoFilterMoments, CudaEqualsCpuOfLargestShapes) {
  NEED_GPU();
  for (const Op op : {Op::mean, Op::standard_deviation})
    for (const Content content : {Content::white, Content::near_white, Content::checkerboard}) {
      const SwoFilterParams p{
          .op = op, .window = 255, .shape = "ellipse", .border = Border::replicate};
      expect_cuda_equals_cpu_of<std::uint8_t>(p, {37, 20}, {.unit = 16}, 0xff, content);
      expect_cuda_equals_cpu_of<std::uint16_t>(p, {20, 37}, {}, 0xffff, content);
    }
}

/// The largest changes along a row: all right ends of a window are white when all left ends are
/// black.
TEST(SwoFilterMoments, CudaEqualsCpuAtStep) {
  NEED_GPU();
  constexpr int kWidth = 40, kHeight = 9;
  std::vector<std::uint16_t> samples;
  for (int i = 0; i < kWidth * kHeight; ++i) samples.push_back(i % kWidth < 20 ? 0 : 0xffff);
  for (const Op op : {Op::mean, Op::standard_deviation})
    for (const int height : {127, 255})
      expect_cuda_equals_cpu_on<std::uint16_t>(SwoFilterParams{.op = op,
                                                               .window_width = 15,
                                                               .window_height = height,
                                                               .shape = "ellipse",
                                                               .border = Border::replicate},
                                               Image<std::uint16_t>(samples, kWidth, kHeight), {});
}

/// A mask of as many runs as there can be.
TEST(SwoFilterMoments, CudaEqualsCpuOfMostRuns) {
  NEED_GPU();
  std::string shape;
  for (int row = 0; row < 31; ++row) shape += "1010101010101010101010101010101;";
  shape.pop_back();
  const SwoFilterParams p{.op = Op::standard_deviation, .shape = shape};
  expect_cuda_equals_cpu_of<std::uint8_t>(p, {60, 40}, {}, 0xff, Content::near_white);
  expect_cuda_equals_cpu_of<std::uint16_t>(p, {60, 40}, {}, 0xffff, Content::near_white);
}
#endif

CHECK_OPERATOR(SwoFilterMoments, SwoFilterParams, {.op = SwoFilterOperator::mean},
               {.op = SwoFilterOperator::mean, .window = 15, .border = SwoFilterBorder::reflect},
               {.op = SwoFilterOperator::mean, .window = 255},
               {.op = SwoFilterOperator::mean, .window = 31, .shape = "ellipse"},
               {.op = SwoFilterOperator::mean, .shape = "0000001;0000000;1000010"},
               {.op = SwoFilterOperator::standard_deviation},
               {.op = SwoFilterOperator::standard_deviation,
                .window = 255,
                .border = SwoFilterBorder::replicate},
               {.op = SwoFilterOperator::standard_deviation,
                .window_width = 5,
                .window_height = 63,
                .border = SwoFilterBorder::constant,
                .border_value = 200},
               {.op = SwoFilterOperator::standard_deviation, .window = 9, .shape = "cross"},
               {.op = SwoFilterOperator::standard_deviation,
                .shape = "101;000;101",
                .border = SwoFilterBorder::reflect});

}  // namespace
}  // namespace cudascan::test
