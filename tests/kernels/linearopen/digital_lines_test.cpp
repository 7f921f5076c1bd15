// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/linearopen/digital_lines.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <ostream>
#include <vector>

#include "tests/kernels/linearopen/oracle.h"

namespace cudascan::lines {

std::ostream &operator<<(std::ostream &s, const Direction &d) {
  return s << (d.steep ? "steep" : "flat") << (d.rising ? ", rising " : ", falling ")
           << d.slope / static_cast<double>(1 << Direction::kFraction);
}

namespace {

constexpr std::int32_t kOne = 1 << Direction::kFraction;

/// Quarters of degrees, whose differences to 90 and 180 are exact in double, and some other angles.
std::vector<double> angles() {
  std::vector<double> result;
  for (int i = 0; i < 720; ++i) result.push_back(i / 4.);
  for (const double angle : {0.001, 1 / 3., 44.999999, 45.000001, 89.9999, 134.9999999, 179.99999})
    result.push_back(angle);
  return result;
}

TEST(DigitalLines, ExactDirections) {
  EXPECT_EQ(Direction::of(0), (Direction{false, false, 0}));
  EXPECT_EQ(Direction::of(45), (Direction{true, false, kOne}));
  EXPECT_EQ(Direction::of(90), (Direction{true, false, 0}));
  EXPECT_EQ(Direction::of(135), (Direction{false, true, kOne}));
  // tan(angle) is 1 / 2 or 1 / 4
  const double degrees = 180 / std::numbers::pi;
  EXPECT_EQ(Direction::of(std::atan(0.5) * degrees), (Direction{false, false, kOne / 2}));
  EXPECT_EQ(Direction::of(std::atan(2) * degrees), (Direction{true, false, kOne / 2}));
  EXPECT_EQ(Direction::of(90 + std::atan(0.25) * degrees), (Direction{true, true, kOne / 4}));
  EXPECT_EQ(Direction::of(180 - std::atan(0.25) * degrees), (Direction{false, true, kOne / 4}));
}

TEST(DigitalLines, HalvesAreRoundedAwayFromZero) {
  const Direction half{true, true, kOne / 2};
  EXPECT_EQ(half.shift(0), 0);
  EXPECT_EQ(half.shift(1), 1);
  EXPECT_EQ(half.shift(2), 1);
  EXPECT_EQ(half.shift(3), 2);
  EXPECT_EQ(half.shift(-1), -1);
  EXPECT_EQ(half.shift(-3), -2);
}

TEST(DigitalLines, AnglesAreCounterClockwiseOnTheScreen) {
  for (const double angle : angles()) {
    SCOPED_TRACE(testing::Message() << "angle " << angle);
    const Direction d = Direction::of(angle);
    EXPECT_EQ(d.steep, angle >= 45 && angle < 135);
    // y grows downwards. The difference is the distance of the line's pixel from the exact line.
    const double dx = std::cos(angle * (std::numbers::pi / 180));
    const double dy = -std::sin(angle * (std::numbers::pi / 180));
    for (const int t : {-1000, -7, 1, 2, 30, 999}) {
      const int x = d.steep ? d.shift(t) : t, y = d.steep ? t : d.shift(t);
      EXPECT_LE(std::abs(x * dy - y * dx), 0.502) << "(" << x << ", " << y << ")";
    }
  }
}

TEST(DigitalLines, DirectionsRepeatEvery180Degrees) {
  for (int i = 0; i < 720; ++i) {
    const Direction d = Direction::of(i / 4.);
    for (const double turns : {-360., -180., 180., 360., 1.8e6})
      EXPECT_EQ(Direction::of(i / 4. + turns), d) << i / 4. << " and " << turns;
  }
  // The remainder is below 0, and adding 180 gives 180.
  EXPECT_EQ(Direction::of(-1e-300), Direction::of(0));
}

TEST(DigitalLines, OppositeStepsAndSlopesMakeOppositeShifts) {
  for (const double angle : angles()) {
    const Direction d = Direction::of(angle);
    const Direction opposite{d.steep, !d.rising, d.slope};
    for (int t = 0; t <= 1 << 16; t += t < 200 ? 1 : 97) {
      ASSERT_EQ(d.shift(-t), -d.shift(t)) << "angle " << angle << ", t " << t;
      ASSERT_EQ(opposite.shift(t), -d.shift(t)) << "angle " << angle << ", t " << t;
    }
  }
}

TEST(DigitalLines, MirroringAndTransposingAnImageDoesSoWithItsLines) {
  for (int i = 0; i < 720; ++i) {
    const double angle = i / 4.;
    SCOPED_TRACE(testing::Message() << "angle " << angle);
    const Direction d = Direction::of(angle), mirrored = Direction::of(180 - angle),
                    transposed = Direction::of(90 - angle);
    EXPECT_EQ(mirrored.slope, d.slope);
    EXPECT_EQ(transposed.slope, d.slope);
    if (d.slope == 0 || d.slope == kOne) continue;  // these lines have two equivalent descriptions
    EXPECT_EQ(mirrored, (Direction{d.steep, !d.rising, d.slope}));
    EXPECT_EQ(transposed, (Direction{!d.steep, d.rising, d.slope}));
  }
}

TEST(DigitalLines, NeighboursTouch) {
  for (const double angle : angles()) {
    const Direction d = Direction::of(angle);
    for (int t = -5000; t < 5000; ++t) {
      const int step = d.shift(t + 1) - d.shift(t);
      ASSERT_TRUE(d.rising ? step == 0 || step == 1 : step == 0 || step == -1)
          << "angle " << angle << ", t " << t;
    }
  }
}

TEST(DigitalLines, ShiftsAreRoundedProducts) {
  for (const double angle : angles()) {
    const Direction d = Direction::of(angle);
    const test::OracleLines oracle(angle);
    ASSERT_EQ(d.steep, oracle.steep()) << "angle " << angle;
    for (int t = -(1 << 16); t <= 1 << 16; t += std::abs(t) < 100 ? 1 : 61)
      ASSERT_EQ(d.shift(t), oracle.shift(t)) << "angle " << angle << ", t " << t;
  }
  // The largest step has products of 37 bits.
  EXPECT_EQ(Direction::of(45).shift(1 << 16), -(1 << 16));
  EXPECT_EQ(Direction::of(135).shift(1 << 16), 1 << 16);
  EXPECT_EQ(Direction::of(90).shift(1 << 16), 0);
  EXPECT_EQ((Direction{true, true, 1}).shift(1 << 16), 0);
  EXPECT_EQ((Direction{true, true, kOne - 1}).shift(1 << 16), 1 << 16);
}

// ---- Partitions ---------------------------------------------------------------------------------

TEST(DigitalLines, EachPixelIsOnOneLineOfThePartition) {
  for (const auto [width, height] : {test::Size{1, 1}, test::Size{1, 40}, test::Size{40, 1},
                                     test::Size{37, 23}, test::Size{8, 100}, test::Size{100, 8}})
    for (const double angle : angles()) {
      SCOPED_TRACE(testing::Message() << width << "x" << height << ", angle " << angle);
      const Partition p = Partition::of(Direction::of(angle), width, height);
      std::vector<int> lines_of(static_cast<std::size_t>(width * height));
      int empty = 0;
      for (int j = p.first; j < p.first + p.count; ++j) {
        int pixels = 0;
        for (int t = 0; t < p.steps; ++t) {
          const int across = j + p.direction.shift(t);
          if (across < 0 || across >= p.across) continue;
          ++pixels;
          ++lines_of[p.direction.steep ? t * width + across : across * width + t];
        }
        empty += pixels == 0;
      }
      ASSERT_EQ(empty, 0);
      for (const int n : lines_of) ASSERT_EQ(n, 1);
    }
}

/// Equation 4 of the paper. It counts one or two lines too many if the last pixels of a line are
/// still inside the image's columns.
TEST(DigitalLines, CountsAreThoseOfEquation4) {
  for (const auto [width, height] : {test::Size{1, 1}, test::Size{640, 480}, test::Size{784, 1133},
                                     test::Size{32768, 32768}, test::Size{32768, 1}})
    for (const double angle : angles()) {
      SCOPED_TRACE(testing::Message() << width << "x" << height << ", angle " << angle);
      const Partition p = Partition::of(Direction::of(angle), width, height);
      const bool steep = angle >= 45 && angle < 135;
      const double tangent = std::abs(std::tan(angle * (std::numbers::pi / 180)));
      const int most = steep ? width + static_cast<int>(std::ceil(height / tangent - 1e-9))
                             : height + static_cast<int>(std::ceil(width * tangent - 1e-9));
      EXPECT_LE(p.count, most);
      EXPECT_GE(p.count, most - 2);
      EXPECT_EQ(p.steps, steep ? height : width);
      EXPECT_EQ(p.across, steep ? width : height);
    }
}

}  // namespace
}  // namespace cudascan::lines
