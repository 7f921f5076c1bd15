// SPDX-License-Identifier: LGPL-2.1-or-later
// Properties of openings and symmetries of lines, tested on random images.
#include <cmath>

#include "tests/kernels/linearopen/oracle.h"

namespace cudascan {
namespace {

using test::linear_opened;
using enum LinearOpenOperation;
constexpr auto kPartition = LinearOpenLines::partition;
constexpr auto kInvariant = LinearOpenLines::invariant;

/// Samples of random size and parameters with a random direction.
template <typename T>
struct Case {
  int width, height;
  std::vector<T> samples;
  LinearOpenParams params;

  explicit Case(std::mt19937 &random)
      : width(1 + static_cast<int>(random() % 60)), height(1 + static_cast<int>(random() % 60)) {
    const unsigned levels = random() % 2 ? 5 : 256;
    for (int i = 0; i < width * height; ++i)
      samples.push_back(static_cast<T>(static_cast<T>(random() % levels) * 0.75));
    params.length = 1 + static_cast<int>(random() % 30);
    // The differences of quarters to 90 and 180 are exact in double.
    params.angle = static_cast<int>(random() % 720) / 4.;
    if (random() % 2) params.lines = kInvariant;
    if (random() % 3 == 0) params.directions = 2 + static_cast<int>(random() % 6);
  }

  std::vector<T> result() const { return linear_opened(samples, width, height, params); }
  std::vector<T> result(LinearOpenOperation operation) const {
    LinearOpenParams p = params;
    p.operation = operation;
    return linear_opened(samples, width, height, p);
  }
};

/// Calls check(case) for many random cases.
template <typename Check>
void for_random_cases(const Check &check) {
  std::mt19937 random(1);
  const auto run = [&]<typename T>(T) {
    for (int i = 0; i < 250; ++i) {
      const Case<T> c(random);
      SCOPED_TRACE(testing::Message() << "case " << i << ": " << c.params << ", " << c.width << "x"
                                      << c.height << ", " << sizeof(T) << " bytes");
      check(c);
      if (testing::Test::HasFailure()) return;
    }
  };
  run(std::uint8_t{});
  run(std::uint16_t{});
  run(float{});
}

template <typename T>
bool nowhere_above(const std::vector<T> &a, const std::vector<T> &b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), std::less_equal<>());
}

/// The complement of the image. The complement of the complement is the image.
template <typename T>
std::vector<T> complement(std::vector<T> samples) {
  for (T &v : samples)
    v = std::is_floating_point_v<T> ? -v : static_cast<T>(std::numeric_limits<T>::max() - v);
  return samples;
}

// ---- Openings -----------------------------------------------------------------------------------

TEST(LinearOpenProperties, OpeningTwiceIsOpeningOnce) {
  for_random_cases([]<typename T>(Case<T> c) {
    for (const auto operation : {opening, closing}) {
      const auto once = c.result(operation);
      Case<T> again = c;
      again.samples = once;
      EXPECT_TRUE(test::same(once, again.result(operation), c.width));
    }
  });
}

TEST(LinearOpenProperties, OpeningsAreNowhereAboveAndClosingsNowhereBelow) {
  for_random_cases([](const auto &c) {
    EXPECT_TRUE(nowhere_above(c.result(opening), c.samples));
    EXPECT_TRUE(nowhere_above(c.samples, c.result(closing)));
  });
}

TEST(LinearOpenProperties, WhatIsNowhereAboveStaysSo) {
  std::mt19937 random(2);
  for_random_cases([&]<typename T>(const Case<T> &c) {
    Case<T> lower = c;
    for (T &v : lower.samples)
      if (random() % 3 == 0) v = static_cast<T>(v / 2);
    EXPECT_TRUE(nowhere_above(lower.result(opening), c.result(opening)));
    EXPECT_TRUE(nowhere_above(lower.result(closing), c.result(closing)));
  });
}

TEST(LinearOpenProperties, ClosingIsTheComplementOfOpeningTheComplement) {
  for_random_cases([]<typename T>(const Case<T> &c) {
    Case<T> other = c;
    other.samples = complement(c.samples);
    EXPECT_TRUE(test::same(complement(other.result(opening)), c.result(closing), c.width));
    EXPECT_TRUE(test::same(other.result(top_hat), c.result(black_hat), c.width));
  });
}

TEST(LinearOpenProperties, HatsAreDifferences) {
  for_random_cases([]<typename T>(const Case<T> &c) {
    const auto opened = c.result(opening), closed = c.result(closing);
    std::vector<T> top, black;
    for (std::size_t i = 0; i < c.samples.size(); ++i) {
      top.push_back(static_cast<T>(c.samples[i] - opened[i]));
      black.push_back(static_cast<T>(closed[i] - c.samples[i]));
    }
    EXPECT_TRUE(test::same(top, c.result(top_hat), c.width));
    EXPECT_TRUE(test::same(black, c.result(black_hat), c.width));
  });
}

TEST(LinearOpenProperties, LevelsAreOpenedOneByOne) {
  // An increasing function of the samples can be applied before or after the opening.
  for_random_cases([]<typename T>(const Case<T> &c) {
    const auto curve = [](std::vector<T> samples) {
      for (T &v : samples) v = static_cast<T>(v < 100 ? v / 2 : v < 130 ? 77 : v - 20);
      return samples;
    };
    Case<T> curved = c;
    curved.samples = curve(c.samples);
    EXPECT_TRUE(test::same(curve(c.result(opening)), curved.result(opening), c.width));
  });
}

TEST(LinearOpenProperties, LongerSegmentsOfALineOpenMore) {
  for_random_cases([](const auto &c) {
    if (c.params.lines == kInvariant)
      return;  // a longer segment need not contain a shorter one there
    auto longer = c;
    longer.params.length += 1 + c.params.length / 3;
    EXPECT_TRUE(nowhere_above(longer.result(opening), c.result(opening)));
    // Opening the result again with shorter segments changes nothing.
    auto both = c;
    both.samples = longer.result(opening);
    EXPECT_TRUE(test::same(both.samples, both.result(opening), c.width));
  });
}

TEST(LinearOpenProperties, DirectionsAreTheExtremaOfEach) {
  for_random_cases([]<typename T>(const Case<T> &c) {
    Case<T> one = c;
    one.params.directions = 1;
    auto largest = one.result(opening), smallest = one.result(closing);
    for (int k = 1; k < c.params.directions; ++k) {
      one.params.angle = c.params.angle + 180. * k / c.params.directions;
      const auto opened = one.result(opening), closed = one.result(closing);
      for (std::size_t i = 0; i < opened.size(); ++i) {
        largest[i] = std::max(largest[i], opened[i]);
        smallest[i] = std::min(smallest[i], closed[i]);
      }
    }
    EXPECT_TRUE(test::same(largest, c.result(opening), c.width));
    EXPECT_TRUE(test::same(smallest, c.result(closing), c.width));
  });
}

TEST(LinearOpenProperties, LinesAlongAxesAndDiagonalsAreTheSameOfBothKinds) {
  for_random_cases([](const auto &c) {
    for (const double angle : {0., 45., 90., 135.}) {
      auto partition = c, invariant = c;
      partition.params = {.length = c.params.length, .angle = angle};
      invariant.params = partition.params;
      invariant.params.lines = kInvariant;
      EXPECT_TRUE(test::same(partition.result(), invariant.result(), c.width)) << angle;
    }
  });
}

// ---- Symmetries ---------------------------------------------------------------------------------

/// An image whose pixel (x, y) is pixel of(x, y) of a case.
template <typename T, typename Of>
Case<T> moved(const Case<T> &c, int width, int height, const Of &of) {
  Case<T> result = c;
  result.width = width;
  result.height = height;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const test::Pixel p = of(x, y);
      result.samples[static_cast<std::size_t>(y * width + x)] =
          c.samples[static_cast<std::size_t>(p.y * c.width + p.x)];
    }
  return result;
}
template <typename T>
Case<T> mirrored_columns(const Case<T> &c) {
  return moved(c, c.width, c.height, [&](int x, int y) { return test::Pixel{c.width - 1 - x, y}; });
}
template <typename T>
Case<T> mirrored_rows(const Case<T> &c) {
  return moved(c, c.width, c.height, [&](int x, int y) {
    return test::Pixel{x, c.height - 1 - y};
  });
}
template <typename T>
Case<T> transposed(const Case<T> &c) {
  return moved(c, c.height, c.width, [](int x, int y) { return test::Pixel{y, x}; });
}

/// The result must be the same in both orders: `move` the image, then open it at `angle`; or open
/// it at its own angle, then `move` the result.
template <typename T, typename Move>
void expect_moves(const Case<T> &c, const Move &move, double angle) {
  Case<T> first = c;
  first.samples = c.result();
  Case<T> then = move(c);
  then.params.angle = angle;
  EXPECT_TRUE(test::same(move(first).samples, then.result(), then.width));
}

/// A mirroring that keeps the order of the pixels in a line maps lines that divide an image to
/// lines of the mirrored direction, and segments of any length to segments.
TEST(LinearOpenSymmetry, MirroringAcrossTheLines) {
  for_random_cases([]<typename T>(Case<T> c) {
    c.params.directions = 1;
    const double angle = c.params.angle, other = 180 - angle;
    if (angle == 45 || angle == 135) c.params.length |= 1;  // steep only before, or only after
    if (angle >= 45 && angle < 135)
      expect_moves(c, mirrored_columns<T>, other);
    else
      expect_moves(c, mirrored_rows<T>, other);
  });
}

/// This mirroring reverses the order of the pixels in a line. Lines that divide the image then
/// begin at the other end, where shifts differ. So the test uses the same segment at every pixel,
/// with odd length, as such segments are symmetric about their centre.
TEST(LinearOpenSymmetry, MirroringAlongTheLines) {
  for_random_cases([]<typename T>(Case<T> c) {
    c.params.lines = kInvariant;
    c.params.length |= 1;
    expect_moves(c, mirrored_columns<T>, 180 - c.params.angle);
    expect_moves(c, mirrored_rows<T>, 180 - c.params.angle);
    // A rotation by 180 degrees.
    expect_moves(
        c, [](const Case<T> &other) { return mirrored_rows(mirrored_columns(other)); },
        c.params.angle);
  });
}

TEST(LinearOpenSymmetry, Transposition) {
  for_random_cases([]<typename T>(Case<T> c) {
    if (c.params.directions > 1) {
      // Transposition maps an even number of directions, evenly distributed from 0 on, to the same
      // directions.
      c.params.angle = 0;
      c.params.directions = 4;
      c.params.length |= 1;
    }
    if (c.params.angle == 45) c.params.length |= 1;  // the result is steep both before and after
    expect_moves(c, transposed<T>, c.params.directions > 1 ? 0 : 90 - c.params.angle);
  });
}

/// When an image within a constant border is moved, its result moves too, if the segment is the
/// same at every pixel.
TEST(LinearOpenSymmetry, Translation) {
  for_random_cases([]<typename T>(Case<T> c) {
    c.params.lines = kInvariant;
    c.params.directions = 1;
    const int margin = c.params.length + 3, width = c.width + 2 * margin,
              height = c.height + 2 * margin;
    const auto opened_at = [&](int left, int top) {
      std::vector<T> large(static_cast<std::size_t>(width * height));
      for (int y = 0; y < c.height; ++y)
        std::copy_n(c.samples.begin() + y * c.width, c.width,
                    large.begin() + (top + y) * width + left);
      const auto result = linear_opened(large, width, height, c.params);
      std::vector<T> inner;
      for (int y = 0; y < c.height; ++y)
        inner.insert(inner.end(), result.begin() + (top + y) * width + left,
                     result.begin() + (top + y) * width + left + c.width);
      return inner;
    };
    EXPECT_TRUE(test::same(opened_at(margin, margin), opened_at(margin - 1, margin + 2), c.width));
  });
}

}  // namespace
}  // namespace cudascan
