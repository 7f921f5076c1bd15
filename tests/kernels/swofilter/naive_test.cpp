// SPDX-License-Identifier: LGPL-2.1-or-later
// The sliding windows of the paper (algorithm = naive), compared with known values and with an
// oracle that shares only the definitions in the headers with them.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/swofilter.h"
#include "tests/kernels/operator_test.h"

namespace cudascan::test {
namespace {

using Op = SwoFilterOperator;
using Border = SwoFilterBorder;

constexpr Op kOperators[] = {Op::minimum,
                             Op::maximum,
                             Op::midpoint,
                             Op::mean,
                             Op::standard_deviation,
                             Op::median,
                             Op::rank,
                             Op::alpha_trimmed_mean,
                             Op::mode,
                             Op::directional_median,
                             Op::erode,
                             Op::dilate,
                             Op::gradient};
constexpr Border kBorders[] = {Border::clip, Border::replicate, Border::reflect, Border::constant};

// ---- The oracle ---------------------------------------------------------------------------------

struct Grid {
  int width, height;
  std::vector<int> levels;

  /// The level at (x, y), inside or outside the image.
  std::optional<int> at(int x, int y, const SwoFilterParams &p) const {
    const bool inside = x >= 0 && x < width && y >= 0 && y < height;
    if (!inside && p.border == Border::clip) return {};
    if (!inside && p.border == Border::constant) return p.border_value;
    if (p.border == Border::replicate) {
      x = std::clamp(x, 0, width - 1);
      y = std::clamp(y, 0, height - 1);
    }
    // Reflects at the edges, repeatedly if necessary.
    while (x < 0 || x >= width) x = x < 0 ? -1 - x : 2 * width - 1 - x;
    while (y < 0 || y >= height) y = y < 0 ? -1 - y : 2 * height - 1 - y;
    return levels[y * width + x];
  }
};

/// The rows of a window; '1' marks its samples.
std::vector<std::string> rows_of(const SwoFilterParams &p) {
  const int width = p.window_width ? p.window_width : p.window;
  const int height = p.window_height ? p.window_height : p.window;
  std::vector<std::string> rows(height, std::string(width, '1'));
  if (p.shape == "rectangle") return rows;
  if (p.shape == "cross") {
    for (int row = 0; row < height; ++row)
      if (row != height / 2) rows[row].assign(width, '0').at(width / 2) = '1';
    return rows;
  }
  rows.assign(1, "");
  for (const char c : p.shape) {
    if (c == ';')
      rows.emplace_back();
    else
      rows.back() += c;
  }
  return rows;
}

std::vector<int> sorted(std::vector<int> v) {
  std::sort(v.begin(), v.end());
  return v;
}

std::vector<int> samples_of_line(const Grid &grid, int x, int y, int dx, int dy, int reach,
                                 const SwoFilterParams &p) {
  std::vector<int> line;
  for (int i = -reach; i <= reach; ++i)
    if (const auto v = grid.at(x + i * dx, y + i * dy, p)) line.push_back(*v);
  return sorted(line);
}

/// floor(a / b + 1 / 2)
std::int64_t rounded(std::int64_t a, std::int64_t b) {
  return a / b + (2 * (a % b) >= b);
}

int deviation_of(const std::vector<int> &w) {
  const auto n = static_cast<__int128>(w.size());
  __int128 sum = 0;
  for (const int v : w) sum += v;
  __int128 squares = 0;  // sum of (n times the deviation) squared: n^3 times the variance
  for (const int v : w) squares += (n * v - sum) * (n * v - sum);
  int d = 0;  // the result: the smallest d for which d + 1/2 is above the deviation
  while ((2 * d + 1) * n * ((2 * d + 1) * n) * n <= 4 * squares) ++d;
  return d;
}

int level_at(const Grid &grid, int x, int y, const SwoFilterParams &p, int most) {
  const int sample = grid.levels[y * grid.width + x];
  const auto rows = rows_of(p);
  const int ry = static_cast<int>(rows.size()) / 2, rx = static_cast<int>(rows[0].size()) / 2;
  if (p.op == Op::directional_median) {
    std::vector<int> medians;
    for (const auto &line :
         {samples_of_line(grid, x, y, 1, 0, rx, p), samples_of_line(grid, x, y, 0, 1, ry, p),
          samples_of_line(grid, x, y, 1, 1, std::min(rx, ry), p),
          samples_of_line(grid, x, y, -1, 1, std::min(rx, ry), p)})
      medians.push_back(line[line.size() / 2]);
    medians = sorted(medians);
    return sorted({medians.front(), medians.back(), sample})[1];
  }
  std::vector<int> w;
  for (int row = 0; row < static_cast<int>(rows.size()); ++row)
    for (int column = 0; column < static_cast<int>(rows[row].size()); ++column)
      if (rows[row][column] == '1')
        if (const auto v = grid.at(x + column - rx, y + row - ry, p)) w.push_back(*v);
  if (w.empty())
    return p.op == Op::erode ? most : p.op == Op::dilate || p.op == Op::gradient ? 0 : sample;
  w = sorted(w);
  const auto n = static_cast<int>(w.size());
  const auto mean = [](auto begin, auto end) {
    std::int64_t sum = 0;
    for (auto i = begin; i != end; ++i) sum += *i;
    return static_cast<int>(rounded(sum, end - begin));
  };
  switch (p.op) {
    case Op::midpoint:
      return static_cast<int>(rounded(w.front() + w.back(), 2));
    case Op::gradient:
      return w.back() - w.front();
    case Op::mean:
      return mean(w.begin(), w.end());
    case Op::standard_deviation:
      return deviation_of(w);
    case Op::median:
      return w[n / 2];
    case Op::rank: {
      const auto micro = static_cast<std::int64_t>(p.percentile * 10'000 + 0.5);
      return w[std::min<std::int64_t>(n * micro / 1'000'000, n - 1)];
    }
    case Op::alpha_trimmed_mean: {
      const auto micro = static_cast<std::int64_t>(p.alpha * 1'000'000 + 0.5);
      const auto t = std::min<std::int64_t>(n * micro / 1'000'000, (n - 1) / 2);
      return mean(w.begin() + t, w.end() - t);
    }
    case Op::mode: {
      std::map<int, int> counts;
      for (const int v : w) ++counts[v];
      return std::max_element(counts.begin(), counts.end(),
                              [](auto a, auto b) { return a.second < b.second; })
          ->first;
    }
    default:
      return p.op == Op::minimum || p.op == Op::erode ? w.front() : w.back();
  }
}

template <typename T>
std::vector<T> oracle(const Image<T> &in, const SwoFilterParams &p) {
  const int shift = unused_low_bits(in.plane().maximum);
  Grid grid{in.width(), in.height(), {}};
  for (const T v : in.samples()) grid.levels.push_back(v >> shift);
  std::vector<T> result;
  for (int y = 0; y < grid.height; ++y)
    for (int x = 0; x < grid.width; ++x)
      result.push_back(
          static_cast<T>(level_at(grid, x, y, p, in.plane().maximum >> shift) << shift));
  return result;
}

// ---- Tests --------------------------------------------------------------------------------------

std::string say(const SwoFilterParams &p) {
  std::ostringstream s;
  s << "operator " << static_cast<int>(p.op) << ", window " << p.window << " (" << p.window_width
    << "x" << p.window_height << "), shape " << p.shape << ", border "
    << static_cast<int>(p.border);
  return s.str();
}

SwoFilterParams naive(Op op, int window) {
  return {.op = op, .window = window, .algorithm = SwoFilterAlgorithm::naive};
}

template <typename T>
std::vector<T> filter(const Image<T> &in, const SwoFilterParams &params) {
  Image<T> out(in.width(), in.height(), {}, in.plane().maximum);
  Cpu cpu;
  run(cpu, in.plane(), out.plane(), params);
  return out.samples();
}

/// The result in the middle of 3x3 levels.
int middle_of(const std::vector<std::uint8_t> &levels, const SwoFilterParams &params) {
  return filter(Image<std::uint8_t>(levels, 3, 3), params)[4];
}

TEST(SwoFilterNaive, KnownValues) {
  const std::vector<std::uint8_t> levels{9, 2, 30, 2, 100, 200, 7, 30, 255};
  EXPECT_EQ(middle_of(levels, naive(Op::minimum, 3)), 2);
  EXPECT_EQ(middle_of(levels, naive(Op::erode, 3)), 2);
  EXPECT_EQ(middle_of(levels, naive(Op::maximum, 3)), 255);
  EXPECT_EQ(middle_of(levels, naive(Op::dilate, 3)), 255);
  EXPECT_EQ(middle_of(levels, naive(Op::gradient, 3)), 253);
  EXPECT_EQ(middle_of(levels, naive(Op::midpoint, 3)), 129);  // 128.5
  EXPECT_EQ(middle_of(levels, naive(Op::mean, 3)), 71);       // 635 / 9 = 70.6
  EXPECT_EQ(middle_of(levels, naive(Op::median, 3)), 30);
  EXPECT_EQ(middle_of(levels, naive(Op::mode, 3)), 2);  // occurs as often as 30, and is lower
  // Without 2, 2, 200 and 255: 176 / 5 = 35.2.
  EXPECT_EQ(middle_of(levels, naive(Op::alpha_trimmed_mean, 3)), 35);
  // The medians are 100 (row), 30 (column), and 100 and 30 (diagonals).
  EXPECT_EQ(middle_of(levels, naive(Op::directional_median, 3)), 100);
  // 9 * 116963 - 635^2 = 649442, and sqrt(649442) / 9 = 89.54
  EXPECT_EQ(middle_of(levels, naive(Op::standard_deviation, 3)), 90);
  SwoFilterParams rank = naive(Op::rank, 3);
  rank.percentile = 100;
  EXPECT_EQ(middle_of(levels, rank), 255);
  rank.percentile = 22.2222;  // 1.999998 of 9 samples
  EXPECT_EQ(middle_of(levels, rank), 2);
  rank.percentile = 22.2223;
  EXPECT_EQ(middle_of(levels, rank), 7);
}

TEST(SwoFilterNaive, HalvesGoUp) {
  const std::vector<std::uint8_t> levels{0, 1, 0, 0, 0, 0, 0, 0, 0};
  SwoFilterParams p = naive(Op::mean, 3);
  p.shape = "010;010;000";
  EXPECT_EQ(middle_of(levels, p), 1);
  p.op = Op::standard_deviation;
  EXPECT_EQ(middle_of(levels, p), 1);
  p.op = Op::midpoint;
  EXPECT_EQ(middle_of(levels, p), 1);
  p.op = Op::median;
  EXPECT_EQ(middle_of(levels, p), 1) << "the upper one of the two middle samples";
}

TEST(SwoFilterNaive, WindowWithoutSamples) {
  const Image<std::uint16_t> in(std::vector<std::uint16_t>{0x1240}, 1, 1, {}, 0xffc0);
  for (const Op op : kOperators) {
    SwoFilterParams p = naive(op, 3);
    p.shape = "100;000;000";
    const bool is_0 = op == Op::dilate || op == Op::gradient;
    EXPECT_EQ(filter(in, p)[0], op == Op::erode ? 0xffc0 : is_0 ? 0 : 0x1240) << say(p);
  }
}

/// Windows with every shape, up to the largest window, and one that is larger than the image.
std::vector<SwoFilterParams> windows_of(Op op) {
  std::vector<SwoFilterParams> all;
  for (const int window : {1, 3, 5, 15}) all.push_back(naive(op, window));
  for (const auto &[width, height] : {std::pair{15, 1}, {1, 9}, {7, 5}}) {
    all.push_back(naive(op, 3));
    all.back().window_width = width;
    all.back().window_height = height;
  }
  all.push_back(naive(op, 7));
  all.back().shape = "cross";
  for (const char *shape : {"010;111;010", "100;000;000", "10101;01010;10101;01010;00001", "110"}) {
    all.push_back(naive(op, 3));
    all.back().shape = shape;
  }
  all.push_back(naive(op, 5));
  all.back().percentile = 12.5;
  all.back().alpha = 0.5;
  return all;
}

template <typename T>
void expect_oracle(Op op, T maximum) {
  for (SwoFilterParams p : windows_of(op))
    for (const Border border : kBorders) {
      p.border = border;
      p.border_value = 201;
      for (const Size size : {Size{17, 11}, {4, 3}, {1, 1}})
        for (const Content content : {Content::random, Content::near_white}) {
          SCOPED_TRACE(testing::Message() << say(p) << ", " << size.width << "x" << size.height
                                          << ", maximum " << maximum);
          const Image<T> in(make_content(content, size.width, size.height, maximum), size.width,
                            size.height, {}, maximum);
          ASSERT_TRUE(same(oracle(in, p), filter(in, p), size.width));
        }
    }
}

TEST(SwoFilterNaive, EqualsOracle) {
  for (const Op op : kOperators) {
    expect_oracle<std::uint8_t>(op, 0xff);
    expect_oracle<std::uint16_t>(op, 0xffff);
    expect_oracle<std::uint16_t>(op, 0xffc0);
  }
}

TEST(SwoFilterNaive, UnusedLowBitsHaveNoInfluence) {
  auto samples = make_content<std::uint16_t>(Content::random, 20, 9, 0xffc0);
  const Image<std::uint16_t> clean(samples, 20, 9, {}, 0xffc0);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] |= i % 64;
  const Image<std::uint16_t> dirty(samples, 20, 9, {}, 0xffc0);
  for (const Op op : kOperators)
    EXPECT_TRUE(same(filter(clean, naive(op, 3)), filter(dirty, naive(op, 3)), 20));
}

#ifdef HAVE_CUDA
TEST(SwoFilterNaive, CudaEqualsCpuInAllWindows) {
  NEED_GPU();
  std::vector<SwoFilterParams> all;
  for (const Op op : kOperators)
    for (SwoFilterParams p : windows_of(op)) {
      p.border = kBorders[all.size() % std::size(kBorders)];
      p.border_value = 77;
      all.push_back(p);
    }
  constexpr Size kSmall[] = {{1, 1}, {37, 1}, {33, 19}, {65, 40}};
  expect_cuda_equals_cpu(all, kSmall);
}

template <typename T>
void expect_fast_equals_naive(T maximum) {
  constexpr Size kSize{131, 61};
  CudaRunner cuda;
  std::size_t turn = 0;
  for (const Op op : kOperators)
    for (SwoFilterParams p : windows_of(op))
      for (const Border border : kBorders) {
        if (!has_time_for(++turn, kSize)) continue;
        p.border = border;
        p.border_value = 201;
        SCOPED_TRACE(say(p));
        const Image<T> in(make_content(kContents[turn % std::size(kContents)], kSize.width,
                                       kSize.height, maximum),
                          kSize.width, kSize.height, {}, maximum);
        const auto wanted = outcome<T>(cuda, in, {}, maximum, p, 0x5a);
        p.algorithm = SwoFilterAlgorithm::automatic;
        const auto got = outcome<T>(cuda, in, {}, maximum, p, 0xc3);
        ASSERT_TRUE(same(wanted.samples, got.samples, kSize.width));
      }
}

TEST(SwoFilterNaive, CudaFastFormsEqualIt) {
  NEED_GPU();
  expect_fast_equals_naive<std::uint8_t>(0xff);
  expect_fast_equals_naive<std::uint16_t>(0xffff);
  expect_fast_equals_naive<std::uint16_t>(0xffc0);
}
#endif

SwoFilterParams ellipse(Op op, Border border) {
  SwoFilterParams p = naive(op, 5);
  p.shape = "ellipse";
  p.border = border;
  return p;
}

CHECK_OPERATOR(SwoFilterNaiveOperator, SwoFilterParams, naive(Op::median, 3),
               naive(Op::standard_deviation, 3), ellipse(Op::mode, Border::reflect),
               ellipse(Op::gradient, Border::constant));

}  // namespace
}  // namespace cudascan::test
