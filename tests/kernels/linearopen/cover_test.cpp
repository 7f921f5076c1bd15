// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/linearopen/cover.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <set>
#include <utility>

#include "tests/kernels/linearopen/oracle.h"

namespace cudascan::linearopen {
namespace {

using lines::Direction;
using Pixels = std::set<std::pair<int, int>>;

/// The pixels that each level's parts consist of, moved to their places.
Pixels pixels_of(const SegmentCover &cover) {
  Pixels part{{0, 0}}, all;
  for (const SegmentLevel &level : cover.levels) {
    if (!level.made_of.empty()) {
      Pixels longer;
      for (const SegmentPlace &at : level.made_of)
        for (const auto &[x, y] : part) longer.insert({x + at.x, y + at.y});
      part = longer;
    }
    for (const SegmentPlace &at : level.places)
      for (const auto &[x, y] : part) all.insert({x + at.x, y + at.y});
  }
  return all;
}

/// Pixels of the segment that can be in the plane.
Pixels segment(double angle, int length, test::Size plane) {
  const test::OracleLines lines(angle);
  Pixels pixels;
  for (int t = -(length / 2); t <= (length - 1) / 2; ++t) {
    const int x = lines.steep() ? lines.shift(t) : t, y = lines.steep() ? t : lines.shift(t);
    if (std::abs(x) < plane.width && std::abs(y) < plane.height) pixels.insert({x, y});
  }
  return pixels;
}
Pixels turned(const Pixels &pixels) {
  Pixels result;
  for (const auto &[x, y] : pixels) result.insert({-x, -y});
  return result;
}

/// Any angle, one of tenths of degrees, or one of a slope of small numbers.
double random_angle(std::mt19937 &random) {
  switch (random() % 3) {
    case 0:
      return std::uniform_real_distribution<>(0, 180)(random);
    case 1:
      return random() % 1800 / 10.;
    default:
      return std::atan2(1 + random() % 12, 1 + random() % 12) * 180 / std::numbers::pi +
             (random() % 2 ? 90 : 0);
  }
}

void expect_segment(double angle, int length, test::Size plane) {
  SCOPED_TRACE(testing::Message() << "angle " << angle << ", length " << length << ", "
                                  << plane.width << "x" << plane.height);
  const SegmentCover cover = cover_of(Direction::of(angle), length, plane.width, plane.height);
  const Pixels expected = segment(angle, length, plane);
  ASSERT_EQ(pixels_of(cover), expected);
  ASSERT_EQ(pixels_of(cover.turned()), turned(expected));
  int reach = 0;
  for (const auto &[x, y] : expected) reach = std::max(reach, std::abs(x));
  ASSERT_EQ(cover.reach, reach);
  for (const SegmentLevel &level : cover.levels) ASSERT_GE(level.y, 0);
}

TEST(LinearOpenCover, CoversExactlyTheSegment) {
  std::mt19937 random(1);
  for (int i = 0; i < 1500; ++i) {
    const int length = 1 + static_cast<int>(std::exp(random() % 1000 / 1000. * std::log(4096.)));
    const test::Size small{1 + static_cast<int>(random() % 200),
                           1 + static_cast<int>(random() % 200)};
    expect_segment(random_angle(random), std::min(length, 4096),
                   i % 4 == 0 ? small : test::Size{3840, 2160});
    if (HasFatalFailure()) return;
  }
}

TEST(LinearOpenCover, FewExtremaCoverLongSegments) {
  std::mt19937 random(2);
  for (int i = 0; i < 500; ++i)
    for (const int length : {41, 300, 1000, 4096}) {
      const double angle = random_angle(random);
      const SegmentCover cover = cover_of(Direction::of(angle), length, 3840, 2160);
      std::size_t n = 0;
      for (const SegmentLevel &level : cover.levels)
        n += level.made_of.size() + level.places.size();
      EXPECT_LE(n, 8 * std::log2(length) - 20) << "angle " << angle << ", length " << length;
    }
}

}  // namespace
}  // namespace cudascan::linearopen
