// SPDX-License-Identifier: LGPL-2.1-or-later
// Samples that equal their threshold are black. The smallest change of the weight makes them white.
// Only exact arithmetic passes these tests.
#include <cmath>
#include <optional>

#include "tests/kernels/nick/oracle.h"

namespace cudascan {
namespace {

using test::Content;
using test::Gray8;
using test::Image;
using test::kNickMethods;
using test::result;

/// k in steps of its last decimal.
double from_millionths(std::int64_t kn) {
  return kn / 1e6;
}

TEST(NickTies, NickEverywhereInALargeImage) {
  // Columns 76 76 100 76 76 100 ...: each 3x3 window has six 76 and three 100, so m = 84,
  // sum p^2 = 64656, sqrt((64656 - 84^2) / 9) = 80, and T = 84 - 0.1 * 80 = 76 for k = -0.1.
  constexpr int width = 641, height = 67;
  Gray8 samples;
  for (int i = 0; i < width * height; ++i) samples.push_back(i % width % 3 == 2 ? 100 : 76);
  const Image<std::uint8_t> in(samples, width, height);
  const auto at_tie = result(in, {.window = 3, .k = -0.1});
  const auto below = result(in, {.window = 3, .k = -0.100001});
  const auto above = result(in, {.window = 3, .k = -0.099999});
  for (int y = 1; y < height - 1; ++y)
    for (int x = 1; x < width - 1; ++x) {
      const int i = y * width + x;
      ASSERT_EQ(at_tie[i], samples[i] == 76 ? 0 : 255) << x << ", " << y;
      ASSERT_EQ(above[i], samples[i] == 76 ? 0 : 255) << x << ", " << y;
      ASSERT_EQ(below[i], 255) << x << ", " << y;
    }
}

struct TieEverywhere {
  NickMethod method;
  std::int64_t kn;
  double r;
  int slope;  ///< sign of dT/dk
  friend std::ostream &operator<<(std::ostream &s, const TieEverywhere &t) {
    return s << test::name_of(t.method);
  }
};
class NickTiesEverywhere : public testing::TestWithParam<TieEverywhere> {};

/// Columns 80 80 80 80 180, repeated. If the width of the window is a multiple of 5, it has m = 100
/// and s = 40, and T = 80 for the weights below. (16-bit samples are 256 times as large.)
template <typename T>
void expect_ties_everywhere(int scale, TieEverywhere tie) {
  constexpr int width = 701, height = 300;
  std::vector<T> samples;
  for (int i = 0; i < width * height; ++i)
    samples.push_back(static_cast<T>((i % width % 5 == 3 ? 180 : 80) * scale));
  const Image<T> in(samples, width, height);
  constexpr T white = std::numeric_limits<T>::max();
  for (const int window : {5, 15, 75, 255}) {
    NickParams params = {.method = tie.method, .window = window, .r = tie.r};
    for (const int step : {-1, 0, 1}) {
      params.k = from_millionths(tie.kn + step);
      const auto out = result(in, params);
      const T dark = step * tie.slope < 0 ? white : 0;  // T has fallen below the dark columns
      for (int y = window / 2; y < height - window / 2; ++y)
        for (int x = window / 2; x < width - window / 2; ++x) {
          const int i = y * width + x;
          ASSERT_EQ(out[i], samples[i] == 80 * scale ? dark : white)
              << x << ", " << y << " (" << params << ", step " << step << ")";
        }
    }
  }
}
TEST_P(NickTiesEverywhere, Gray8) {
  expect_ties_everywhere<std::uint8_t>(1, GetParam());
}
TEST_P(NickTiesEverywhere, Gray16) {
  TieEverywhere tie = GetParam();
  if (tie.method == NickMethod::phansalkar) {
    // m / max is now 25600 / 65535, and 2 exp(-10 m / max) = 0.040229: 0.5 k = 0.240229
    tie.kn = 480'458;
  }
  expect_ties_everywhere<std::uint16_t>(256, tie);
}
INSTANTIATE_TEST_SUITE_P(
    Methods, NickTiesEverywhere,
    testing::Values(TieEverywhere{NickMethod::niblack, -500'000, 128, +1},  // 100 - 0.5 * 40
                    TieEverywhere{NickMethod::bradley, 200'000, 128, -1},   // 100 (1 - 0.2)
                    // 100 (1 + 0.4 (40 / 80 - 1))
                    TieEverywhere{NickMethod::sauvola, 400'000, 80, -1},
                    // 100 (1 + 0.039620 + k (40 / 80 - 1)): 0.5 k = 0.239620
                    TieEverywhere{NickMethod::phansalkar, 479'240, 80, -1}),
    [](const auto &info) { return test::name_of(info.param.method); });

TEST(NickTies, Wolf) {
  // A row 0 0 0 100 100 100 120 120 120 with a window of three pixels: s is largest where 0 and 100
  // meet; where 100 and 120 meet it is a fifth of that. At the last 100 m = 320/3, so
  // T = 320/3 (1 - k (1 - 1/5)) = 100 for k = 0.078125.
  const Gray8 row = {0, 0, 0, 100, 100, 100, 120, 120, 120};
  const Image<std::uint8_t> in(row, 9, 1);
  const auto last_100 = [&](double k) {
    return result(in, {.method = NickMethod::wolf, .window = 3, .k = k})[5];
  };
  EXPECT_EQ(last_100(0.078124), 0);
  EXPECT_EQ(last_100(0.078125), 0);
  EXPECT_EQ(last_100(0.078126), 255);

  // A row 0 0 0 100 100 100 150 150 150: at the first 150 m = 400/3 and s is half the largest, so
  // T = 400/3 (1 - k / 2) = 150 for k = -0.25. With 16 bit the same.
  const Image<std::uint16_t> in16({0, 0, 0, 25600, 25600, 25600, 38400, 38400, 38400}, 9, 1);
  const auto first_150 = [&](double k) {
    return result(in16, {.method = NickMethod::wolf, .window = 3, .k = k})[6];
  };
  EXPECT_EQ(first_150(-0.250001), 0);
  EXPECT_EQ(first_150(-0.25), 0);
  EXPECT_EQ(first_150(-0.249999), 65535);

  // At the largest s, T = m for any k. The mean of 0 1 2 is 1.
  const Image<std::uint8_t> mean({0, 1, 2}, 3, 1);
  for (const double k : {-2.0, -0.000001, 0.0, 0.5, 2.0})
    EXPECT_EQ(result(mean, {.method = NickMethod::wolf, .window = 7, .k = k}), (Gray8{0, 0, 255}));
}

TEST(NickTies, OneLevelMoreIsWhite) {
  // Four 80 and four 120: m = 100, s = 20, T = 100 - s = 80. With 81 for the first 80 m = 100.125,
  // s = 19.88 and T = 80.25.
  const NickParams params = {.method = NickMethod::niblack, .window = 17, .k = -1};
  const Image<std::uint8_t> tie({80, 80, 80, 80, 120, 120, 120, 120}, 8, 1);
  EXPECT_EQ(result(tie, params), (Gray8{0, 0, 0, 0, 255, 255, 255, 255}));
  const Image<std::uint8_t> more({81, 80, 80, 80, 120, 120, 120, 120}, 8, 1);
  EXPECT_EQ(result(more, params), (Gray8{255, 0, 0, 0, 255, 255, 255, 255}));
}

/// The exact square root of a square number.
std::optional<std::int64_t> exact_root(std::int64_t square) {
  const auto root =
      static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<long double>(square))));
  if (root * root != square) return std::nullopt;
  return root;
}

/// A one-row picture under a single window. Its samples are `low` or `high`, and its weight has six
/// decimals. T is exactly `level`, which is one of the two.
struct TwoLevelTie {
  int n, n_high;
  std::int64_t low, high, level, kn;
  int slope;  ///< sign of dT/dk
};

/// The weight that makes T = level, if it has six decimals. T is linear in k, and its square roots
/// are rational here. r is in levels of the image.
std::optional<TwoLevelTie> solve_for_k(NickMethod method, int n, int n_high, std::int64_t low,
                                       std::int64_t high, std::int64_t level, std::int64_t r,
                                       std::int64_t maximum) {
  constexpr std::int64_t kd = 1'000'000;
  const std::int64_t sum = (n - n_high) * low + n_high * high;
  const std::int64_t squares = (n - n_high) * low * low + n_high * high * high;
  const std::int64_t distance = level * n - sum;  // N (T - m)
  __int128 numerator, denominator;                // of k
  switch (method) {
    case NickMethod::nick: {  // T = m + k root / N^2, root^2 = N (Q N^2 - S^2)
      const auto root = exact_root(n * (squares * n * n - sum * sum));
      if (!root) return std::nullopt;
      numerator = __int128{distance} * n;
      denominator = *root;
      break;
    }
    case NickMethod::niblack: {  // T = m + k root / N, root^2 = Q N - S^2
      const auto root = exact_root(squares * n - sum * sum);
      if (!root) return std::nullopt;
      numerator = distance;
      denominator = *root;
      break;
    }
    case NickMethod::bradley:  // T = m - k m
      numerator = -distance;
      denominator = sum;
      break;
    case NickMethod::sauvola:
    case NickMethod::phansalkar: {  // T = m (1 + boost + k (root / (N r) - 1))
      const auto root = exact_root(squares * n - sum * sum);
      if (!root) return std::nullopt;
      const long double exponent = -10.0L * sum / (static_cast<long double>(n) * maximum);
      const std::int64_t boost =
          method == NickMethod::phansalkar ? std::llround(2e6L * std::exp(exponent)) : 0;
      numerator = (__int128{distance} * kd - __int128{sum} * boost) * n * r;
      denominator = __int128{sum} * (*root - n * r) * kd;
      break;
    }
    default:
      return std::nullopt;
  }
  if (denominator == 0 || numerator * kd % denominator != 0) return std::nullopt;
  const __int128 kn = numerator * kd / denominator;
  if (kn <= -2 * kd || kn >= 2 * kd) return std::nullopt;
  const int slope = (denominator < 0) != (method == NickMethod::bradley) ? -1 : 1;
  return TwoLevelTie{n, n_high, low, high, level, static_cast<std::int64_t>(kn), slope};
}

class NickTwoLevelTies : public testing::TestWithParam<NickMethod> {};

/// Finds ties with many sizes and weights. Checks that a tie is black and that the next weight that
/// lowers T makes it white.
template <typename T>
void expect_two_level_ties(NickMethod method, int scale) {
  constexpr double r = 64;
  constexpr std::int64_t maximum = std::numeric_limits<T>::max();
  std::vector<TwoLevelTie> ties;
  for (int n = 2; n <= 13; ++n)
    for (int n_high = 1; n_high < n; ++n_high)
      for (int low = 0; low < 255; low += 1 + n % 3)
        for (int high = low + 1; high < 256; high += 1 + n_high % 2)
          for (const int level : {low, high})
            if (auto tie = solve_for_k(method, n, n_high, low * scale, high * scale, level * scale,
                                       static_cast<std::int64_t>(r * scale), maximum))
              ties.push_back(*tie);
  ASSERT_GE(ties.size(), 200u);
  Cpu cpu;
  const std::size_t stride = ties.size() / 200;
  for (std::size_t i = 0; i < ties.size(); i += stride) {
    const TwoLevelTie &tie = ties[i];
    std::vector<T> samples(tie.n, static_cast<T>(tie.low));
    std::fill_n(samples.begin(), tie.n_high, static_cast<T>(tie.high));
    const Image<T> in(samples, tie.n, 1);
    for (const int step : {-1, 0, 1}) {
      std::vector<T> expected;
      for (const T p : samples) {
        const bool white = p == tie.level ? step * tie.slope < 0 : p > tie.level;
        expected.push_back(white ? maximum : 0);
      }
      const NickParams params = {
          .method = method, .window = 27, .k = from_millionths(tie.kn + step), .r = r};
      Image<T> out(tie.n, 1);
      run(cpu, in.plane(), out.plane(), params);
      ASSERT_EQ(out.samples(), expected)
          << params << ": " << tie.n - tie.n_high << " samples " << tie.low << " and " << tie.n_high
          << " samples " << tie.high << ", T = " << tie.level << " but for " << step << " in k";
    }
  }
}
TEST_P(NickTwoLevelTies, Gray8) {
  expect_two_level_ties<std::uint8_t>(GetParam(), 1);
}
TEST_P(NickTwoLevelTies, Gray16) {
  expect_two_level_ties<std::uint16_t>(GetParam(), 256);
}
INSTANTIATE_TEST_SUITE_P(Methods, NickTwoLevelTies,
                         testing::Values(NickMethod::nick, NickMethod::niblack, NickMethod::sauvola,
                                         NickMethod::bradley, NickMethod::phansalkar),
                         [](const auto &info) { return test::name_of(info.param); });

// ---- Constant images -------------------------------------------------------------------------

/// The only value of the result for an image with one value.
template <typename T>
int constant_result(T value, const NickParams &params) {
  const Image<T> in(std::vector<T>(20 * 9, value), 20, 9);
  const std::vector<T> out = result(in, params);
  EXPECT_EQ(out, std::vector<T>(out.size(), out[0])) << params;
  return out[0];
}

template <typename T>
class NickConstantImage : public testing::Test {};
using Samples = testing::Types<std::uint8_t, std::uint16_t>;
TYPED_TEST_SUITE(NickConstantImage, Samples);

TYPED_TEST(NickConstantImage, KnownResults) {
  constexpr TypeParam max = std::numeric_limits<TypeParam>::max();
  for (const TypeParam value : {TypeParam{1}, TypeParam{100}, static_cast<TypeParam>(max - 1), max})
    for (const int window : {3, 75, 1023}) {
      const auto of = [&](NickMethod method, double k) {
        return constant_result(value, {.method = method, .window = window, .k = k});
      };
      for (const double k : {0.000001, 0.2, 2.0}) {
        // T = p + k p sqrt(1 - 1/N)
        EXPECT_EQ(of(NickMethod::nick, -k), max);
        EXPECT_EQ(of(NickMethod::nick, k), 0);
        // T = p, a tie
        EXPECT_EQ(of(NickMethod::niblack, -k), 0);
        EXPECT_EQ(of(NickMethod::niblack, k), 0);
        EXPECT_EQ(of(NickMethod::wolf, -k), 0);
        EXPECT_EQ(of(NickMethod::wolf, k), 0);
        // T = p (1 - k)
        EXPECT_EQ(of(NickMethod::bradley, -k), 0);
        EXPECT_EQ(of(NickMethod::bradley, k), max);
        EXPECT_EQ(of(NickMethod::sauvola, -k), 0);
        EXPECT_EQ(of(NickMethod::sauvola, k), max);
      }
      for (const NickMethod method : kNickMethods) EXPECT_EQ(of(method, 0), 0);
      // T = p (1 + 2 exp(-10 p / max) - k)
      const double boost = 2 * std::exp(-10.0 * value / max);
      EXPECT_EQ(of(NickMethod::phansalkar, -1), 0);
      EXPECT_EQ(of(NickMethod::phansalkar, 0.25), boost < 0.25 ? max : 0);
      EXPECT_EQ(of(NickMethod::phansalkar, 2), boost < 2 ? max : 0);
      if (value == max) {
        // 2 exp(-10) = 0.0000908, with six digits 0.000091
        EXPECT_EQ(of(NickMethod::phansalkar, 0.000090), 0);
        EXPECT_EQ(of(NickMethod::phansalkar, 0.000091), 0);
        EXPECT_EQ(of(NickMethod::phansalkar, 0.000092), max);
      }
    }
}

TYPED_TEST(NickConstantImage, ZeroIsBlack) {
  for (const NickMethod method : kNickMethods)
    for (const double k : {-2.0, -0.1, 0.0, 0.5, 2.0}) {
      EXPECT_EQ(constant_result(TypeParam{0}, {.method = method, .window = 5, .k = k}), 0);
      EXPECT_EQ(
          constant_result(TypeParam{0},
                          {.method = method, .window = 5, .k = k, .output = NickOutput::threshold}),
          0);
    }
}

TYPED_TEST(NickConstantImage, SinglePixelIsATieForNick) {
  // N = 1: (p^2 - p^2) / 1 = 0
  const Image<TypeParam> in({200}, 1, 1);
  for (const double k : {-2.0, -0.1, 0.1}) EXPECT_EQ(result(in, {.k = k})[0], 0);
}

#ifdef HAVE_CUDA
TEST(NickTies, CudaInFlatAreas) {
  NEED_GPU();
  for (const NickMethod method : kNickMethods)
    for (const double k : {-0.5, 0.0, 0.3, 0.25, 0.5})
      for (const Content content : {Content::black, Content::white, Content::clipped}) {
        NickParams params = {.method = method, .window = 5, .k = k};
        if (k == 0.25 || k == 0.5) params.output = NickOutput::threshold;
        test::expect_cuda_equals_cpu_of<std::uint8_t>(params, {520, 9}, {.unit = 16}, 255, content);
        test::expect_cuda_equals_cpu_of<std::uint16_t>(params, {520, 9}, {.unit = 16}, 65535,
                                                       content);
      }
}

/// Few samples are not 0, so that all terms of T are small. With k = 1 they nearly cancel.
template <typename T>
void expect_cuda_equals_cpu_if_nearly_black() {
  constexpr int kWidth = 520, kHeight = 45;
  std::vector<T> samples(kWidth * kHeight);
  for (std::size_t i = 7; i < samples.size(); i += 97 + i % 331) samples[i] = 1 + i % 2;
  const Image<T> in(samples, kWidth, kHeight, {.unit = 16});
  for (const NickMethod method : kNickMethods)
    for (const double k : {-1.0, -0.05, 0.3, 1.0})
      for (const int window : {5, 31})
        test::expect_cuda_equals_cpu_on<T>(NickParams{.method = method, .window = window, .k = k},
                                           in);
}
TEST(NickTies, CudaWhereNearlyAllIsBlack) {
  NEED_GPU();
  expect_cuda_equals_cpu_if_nearly_black<std::uint8_t>();
  expect_cuda_equals_cpu_if_nearly_black<std::uint16_t>();
}
#endif

}  // namespace
}  // namespace cudascan
