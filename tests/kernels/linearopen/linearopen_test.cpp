// SPDX-License-Identifier: LGPL-2.1-or-later
// Known values, and all kinds of results compared with the oracle.
#include "kernels/linearopen.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "tests/kernels/linearopen/oracle.h"

namespace cudascan {
namespace {

using test::Image;
using test::linear_opened;
using Gray8 = std::vector<std::uint8_t>;
using Gray16 = std::vector<std::uint16_t>;
using enum LinearOpenOperation;
constexpr auto kOrientation = LinearOpenOutput::orientation;
constexpr auto kInvariant = LinearOpenLines::invariant;

// ---- Known values -------------------------------------------------------------------------------

Gray8 row_opened(const Gray8 &row, const LinearOpenParams &params) {
  const int n = static_cast<int>(row.size());
  const Gray8 result = linear_opened(row, n, 1, params);
  // A column gives the same result if the angle is 90 degrees larger.
  LinearOpenParams turned = params;
  turned.angle += 90;
  EXPECT_EQ(linear_opened(row, 1, n, turned), result);
  return result;
}

TEST(LinearOpenValues, OfARow) {
  // Minima of three samples: 1 1 2 2 2 7 0 0 0; of two at the ends.
  const Gray8 in{1, 5, 5, 2, 7, 7, 7, 0, 3};
  EXPECT_EQ(row_opened(in, {.length = 3}), (Gray8{1, 2, 2, 2, 7, 7, 7, 0, 0}));
  EXPECT_EQ(row_opened(in, {.operation = top_hat, .length = 3}),
            (Gray8{0, 3, 3, 0, 0, 0, 0, 0, 3}));
  // Maxima: 5 5 5 7 7 7 7 7 3.
  EXPECT_EQ(row_opened(in, {.operation = closing, .length = 3}),
            (Gray8{5, 5, 5, 5, 7, 7, 7, 3, 3}));
  EXPECT_EQ(row_opened(in, {.operation = black_hat, .length = 3}),
            (Gray8{4, 0, 0, 3, 0, 0, 0, 3, 0}));
  EXPECT_EQ(row_opened(in, {.length = 1}), in);
  EXPECT_EQ(row_opened(in, {.length = 4096}), Gray8(9, 0));
}

TEST(LinearOpenValues, SegmentsBeginHalfTheirLengthBeforeTheCentre) {
  // The image contains (length + 1) / 2 pixels of the segment around the first pixel, and length /
  // 2 + 1 pixels of the segment around the last one.
  EXPECT_EQ(row_opened({9, 9, 0, 0, 9, 9, 9}, {.length = 4}), (Gray8{9, 9, 0, 0, 9, 9, 9}));
  EXPECT_EQ(row_opened({9, 0, 0, 0, 0, 9, 9}, {.length = 4}), (Gray8{0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(row_opened({9, 9, 9, 0, 9, 9, 9}, {.length = 5}), (Gray8{9, 9, 9, 0, 9, 9, 9}));
  EXPECT_EQ(row_opened({9, 9, 0, 0, 0, 9, 9}, {.length = 5}), (Gray8{0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(row_opened({9, 0, 9, 9, 0, 9, 9}, {.length = 2}), (Gray8{9, 0, 9, 9, 0, 9, 9}));
  EXPECT_EQ(row_opened({0, 9, 0, 9, 9, 0, 9}, {.length = 2}), (Gray8{0, 0, 0, 9, 9, 0, 0}));
}

TEST(LinearOpenValues, OfOnePixel) {
  for (const double angle : {0., 33., 45., 90., 135.})
    for (const auto lines : {LinearOpenLines::partition, kInvariant}) {
      const LinearOpenParams params{.length = 30, .angle = angle, .lines = lines};
      EXPECT_EQ(linear_opened(Gray8{77}, 1, 1, params), Gray8{77});
    }
}

/// A line with level 200 on level 10, drawn with the tangent of the angle.
Gray8 drawn_line(int size, double angle) {
  Gray8 samples(static_cast<std::size_t>(size * size), 10);
  const double slope = -std::tan(angle * (std::numbers::pi / 180));
  for (int x = 0; x < size; ++x) {
    const int y = size / 2 + static_cast<int>(std::lround((x - size / 2) * slope));
    if (y >= 0 && y < size) samples[static_cast<std::size_t>(y * size + x)] = 200;
  }
  return samples;
}

TEST(LinearOpenValues, AnglesAreCounterClockwiseOnTheScreen) {
  constexpr int kSize = 41;
  for (const double angle : {-30., -10., 0., 10., 20., 30., 40.}) {
    SCOPED_TRACE(testing::Message() << "angle " << angle);
    const Gray8 line = drawn_line(kSize, angle);
    for (const double turn : {-360., -180., 0., 180.}) {
      if (angle + turn < -360) continue;
      EXPECT_EQ(linear_opened(line, kSize, kSize,
                              {.length = 19, .angle = angle + turn, .lines = kInvariant}),
                line);
    }
    for (const double other : {angle + 30, angle + 90, angle - 30})
      EXPECT_EQ(
          linear_opened(line, kSize, kSize, {.length = 19, .angle = other, .lines = kInvariant}),
          Gray8(kSize * kSize, 10))
          << "opened at " << other;
  }
}

TEST(LinearOpenValues, SupremumOfDirections) {
  const Gray8 in{0, 5, 0, 0,  //
                 7, 6, 7, 7,  //
                 0, 5, 9, 0,  //
                 0, 4, 0, 0};
  EXPECT_EQ(linear_opened(in, 4, 4, {.length = 3}), (Gray8{0, 0, 0, 0,  //
                                                           6, 6, 7, 7,  //
                                                           0, 0, 0, 0,  //
                                                           0, 0, 0, 0}));
  EXPECT_EQ(linear_opened(in, 4, 4, {.length = 3, .directions = 2}), (Gray8{0, 5, 0, 0,  //
                                                                            6, 6, 7, 7,  //
                                                                            0, 5, 0, 0,  //
                                                                            0, 4, 0, 0}));
  EXPECT_EQ(linear_opened(in, 4, 4, {.operation = top_hat, .length = 3, .directions = 2}),
            (Gray8{0, 0, 0, 0,  //
                   1, 0, 0, 0,  //
                   0, 0, 9, 0,  //
                   0, 0, 0, 0}));
  // The angle of the strongest direction; the first of equally strong ones.
  EXPECT_EQ(linear_opened(in, 4, 4, {.length = 3, .directions = 2, .output = kOrientation}),
            (Gray8{0, 90, 0, 0,  //
                   0, 0, 0, 0,   //
                   0, 90, 0, 0,  //
                   0, 90, 0, 0}));
}

TEST(LinearOpenValues, OrientationsAreInStepsOfTheFormat) {
  const auto orientation = [](std::uint16_t maximum) {
    Cpu cpu;
    const Image<std::uint16_t> in(Gray16(12), 4, 3, {}, maximum);
    Image<std::uint16_t> out(4, 3, {}, maximum);
    run(cpu, in.plane(), out.plane(), {.length = 3, .angle = 170, .output = kOrientation});
    return out.samples();
  };
  EXPECT_EQ(orientation(0x3ff), Gray16(12, 170));
  EXPECT_EQ(orientation(0xffff), Gray16(12, 170));
  EXPECT_EQ(orientation(0xfff0), Gray16(12, 170 * 16));
  EXPECT_EQ(orientation(0xffc0), Gray16(12, 170 * 64));
}

TEST(LinearOpenValues, OrientationsAreWholeDegreesBelow180) {
  const Gray8 flat(30, 50);
  const auto first = [&](double angle) {
    const Gray8 result = linear_opened(
        flat, 6, 5, {.length = 3, .angle = angle, .directions = 3, .output = kOrientation});
    EXPECT_EQ(result, Gray8(30, result[0]));
    return +result[0];
  };
  EXPECT_EQ(first(0), 0);
  EXPECT_EQ(first(22.3), 22);
  EXPECT_EQ(first(179.2), 179);
  EXPECT_EQ(first(179.8), 0);
  EXPECT_EQ(first(-10), 170);
  EXPECT_EQ(first(-0.2), 0);
  EXPECT_EQ(first(-360), 0);
  EXPECT_EQ(first(360), 0);
  EXPECT_EQ(first(270), 90);
}

TEST(LinearOpenValues, FloatingPointSamplesInTheirTotalOrder) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> in{0.f, -0.f, 0.f, kInfinity, kNan, 1e-45f, -kInfinity, -kNan};
  EXPECT_TRUE(test::same(
      std::vector<float>{0.f, -0.f, 0.f, kInfinity, kInfinity, 1e-45f, -kInfinity, -kNan},
      linear_opened(in, 8, 1, {.length = 2}), 8));
  EXPECT_TRUE(
      test::same(std::vector<float>{0.f, 0.f, 0.f, kInfinity, kNan, 1e-45f, -kInfinity, -kInfinity},
                 linear_opened(in, 8, 1, {.operation = closing, .length = 2}), 8));
}

// ---- The report ---------------------------------------------------------------------------------

TEST(LinearOpenReports, AnglesAndSpectrum) {
  const Image<std::uint8_t> in({0, 5, 0, 0,  //
                                7, 6, 7, 7,  //
                                0, 5, 9, 0,  //
                                0, 4, 0, 0},
                               4, 4);
  LinearOpenReport report;
  linear_opened(in, {.length = 3, .directions = 2}, &report);
  EXPECT_EQ(report.angles, (std::vector<double>{0, 90}));
  EXPECT_EQ(report.spectrum, (std::vector<std::int64_t>{26, 19}));
  linear_opened(in, {.operation = top_hat, .length = 3, .directions = 2}, &report);
  EXPECT_EQ(report.spectrum, (std::vector<std::int64_t>{50 - 26, 50 - 19}));
  linear_opened(in, {.length = 3, .angle = -10, .directions = 5, .span = 20}, &report);
  EXPECT_EQ(report.angles, (std::vector<double>{-10, -5, 0, 5, 10}));
  EXPECT_EQ(report.spectrum[2], 26);
  linear_opened(in, {.length = 1, .directions = 3}, &report);
  EXPECT_EQ(report.angles, (std::vector<double>{0, 60, 120}));
  EXPECT_EQ(report.spectrum, std::vector<std::int64_t>(3, 50));
  linear_opened(in, {.angle = 12.5, .span = 20}, &report);
  EXPECT_EQ(report.angles, std::vector<double>{12.5});
}

TEST(LinearOpenReports, SpectrumOfFloatingPointSamples) {
  const Image<float> in({0.5f, 0.25f, 1 / 65536.f, 0.6f / 65536, 0.4f / 65536, -3}, 6, 1);
  LinearOpenReport report;
  linear_opened(in, {.length = 1}, &report);
  EXPECT_EQ(report.spectrum, std::vector<std::int64_t>{32768 + 16384 + 1 + 1 - 3 * 65536});
}

TEST(LinearOpenReports, SumsDoNotOverflow) {
  const Image<std::uint16_t> white(Gray16(1000 * 1000, 0xffff), 1000, 1000);
  LinearOpenReport report;
  linear_opened(white, {.length = 50, .angle = 30, .directions = 2}, &report);
  EXPECT_EQ(report.spectrum, std::vector<std::int64_t>(2, 65535'000'000));
}

// ---- The oracle ---------------------------------------------------------------------------------

/// Few levels, so that equal samples are frequent, or many levels.
template <typename T>
std::vector<T> noise(int width, int height, std::mt19937 &random) {
  const bool few = random() % 2;
  std::vector<T> samples(static_cast<std::size_t>(width * height));
  for (T &sample : samples)
    sample = static_cast<T>(few ? random() % 4 : random() % (sizeof(T) > 1 ? 0x10000 : 0x100));
  if (std::is_floating_point_v<T>)
    for (T &sample : samples) sample = static_cast<T>(sample / 1024.0) - 1;
  return samples;
}

template <typename T>
void expect_oracle(const std::vector<T> &samples, int width, int height,
                   const LinearOpenParams &params) {
  SCOPED_TRACE(testing::Message() << params << ", " << width << "x" << height << ", " << sizeof(T)
                                  << " bytes");
  const auto expected = test::linear_open_oracle(samples, width, height, params);
  const Image<T> in(samples, width, height);
  LinearOpenReport report;
  ASSERT_TRUE(test::same(expected.samples, linear_opened(in, params, &report), width));
  ASSERT_EQ(expected.spectrum, report.spectrum);
  for (std::size_t i = 0; i < expected.angles.size(); ++i)
    ASSERT_NEAR(expected.angles[i], report.angles[i], 1e-9);
  ASSERT_TRUE(test::same(expected.samples, linear_opened(in, params), width)) << "without report";
}

TEST(LinearOpenOracle, EveryLengthAtManyAngles) {
  std::mt19937 random(1);
  constexpr int kWidth = 41, kHeight = 23;
  for (int length = 1; length <= 50; ++length)
    for (const double angle : {0., 2.5, 26.565, 45., 61., 90., 112.5, 135., 160.})
      for (const auto lines : {LinearOpenLines::partition, kInvariant}) {
        expect_oracle(noise<std::uint8_t>(kWidth, kHeight, random), kWidth, kHeight,
                      {.length = length, .angle = angle, .lines = lines});
        if (HasFatalFailure()) return;
      }
}

TEST(LinearOpenOracle, EveryDegree) {
  std::mt19937 random(2);
  for (int angle = 0; angle < 180; ++angle) {
    const int width = angle % 2 ? 30 : 150, height = angle % 3 ? 40 : 19;
    for (const auto lines : {LinearOpenLines::partition, kInvariant})
      expect_oracle(noise<std::uint16_t>(width, height, random), width, height,
                    {.length = 13 + angle % 12, .angle = angle + 0., .lines = lines});
    if (HasFatalFailure()) return;
  }
}

/// Along axes and diagonals, and at any angle for segments that are the same at every pixel. Rows
/// are longer than the part that is processed at a time.
template <typename T>
void compare_short_segments(std::mt19937 &random) {
  constexpr LinearOpenOperation kOperations[] = {opening, closing, top_hat, black_hat};
  for (int length = 1; length <= 16; ++length)
    for (const int directions : {2, 4, 6}) {
      const bool wide = length % 3 == 0;
      const int width = wide ? 2048 / static_cast<int>(sizeof(T)) + length : 1 + length * 5,
                height = length % 4 == 0 ? 1 : 3 + length;
      expect_oracle(noise<T>(width, height, random), width, height,
                    {.operation = kOperations[random() % 4],
                     .length = length,
                     .angle = 45. * (random() % 4),
                     .directions = directions,
                     .lines = directions == 6 ? kInvariant : LinearOpenLines::partition});
      if (testing::Test::HasFatalFailure()) return;
    }
}

TEST(LinearOpenOracle, ShortSegmentsInSeveralDirections) {
  std::mt19937 random(3);
  compare_short_segments<std::uint8_t>(random);
  compare_short_segments<std::uint16_t>(random);
  compare_short_segments<float>(random);
}

template <typename T>
void compare_all_kinds(int cases, std::mt19937 &random) {
  constexpr test::Size kSizes[] = {{1, 1},  {1, 23}, {29, 1},  {2, 2},   {17, 12},
                                   {9, 31}, {33, 8}, {140, 5}, {30, 150}};
  for (int i = 0; i < cases; ++i) {
    const auto [width, height] = kSizes[random() % std::size(kSizes)];
    LinearOpenParams p;
    p.operation = static_cast<LinearOpenOperation>(random() % 4);
    p.length = random() % 8 ? 1 + static_cast<int>(random() % 50) : 4096;
    p.angle = static_cast<int>(random() % 1441) / 2 - 360;
    p.directions = random() % 3 ? 1 : 1 + static_cast<int>(random() % 9);
    constexpr double kSpans[] = {180, 90, 12, 45};
    p.span = kSpans[random() % 4];
    // With fractions of a half, the oracle could round differently.
    if (p.span == 180 && 180 % p.directions == 0 && random() % 2) p.output = kOrientation;
    if (random() % 2) p.lines = kInvariant;
    if (p.lines == LinearOpenLines::partition)
      p.algorithm = static_cast<LinearOpenAlgorithm>(random() % 4);
    expect_oracle(noise<T>(width, height, random), width, height, p);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(LinearOpenOracle, EveryKindOfResult) {
  std::mt19937 random(3);
  compare_all_kinds<std::uint8_t>(700, random);
  compare_all_kinds<std::uint16_t>(300, random);
  compare_all_kinds<float>(400, random);
}

}  // namespace
}  // namespace cudascan
