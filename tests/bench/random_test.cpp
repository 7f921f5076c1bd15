// SPDX-License-Identifier: LGPL-2.1-or-later
// The random settings of the benchmark: the same everywhere, valid, and of every family.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "all_operators.h"
#include "bench/random/draws.h"
#include "bench/swofilter_cases.h"
#include "common/dice.h"

namespace cudascan::bench {
namespace {

constexpr Size kTiny{45, 31, 8};
constexpr int kMany = 6000;

TEST(RandomSettings, OfASeedAreTheSameOnEveryMachine) {
  const Size size{1920, 1080, 8};
  EXPECT_EQ(draw_case(1, 4, size).c.variant,
            "cudaswofilter operator=thicken thinning=zhang-suen iterations=10");
  EXPECT_EQ(draw_case(1, 652, size).c.variant,
            "cudaswofilter operator=median window=27 shape=ellipse border=reflect");
  EXPECT_EQ(draw_case(1, 834, size).c.variant,
            "cudaautothreshold method=minimum apply=false roi=\"<614,438,139,10>\"");
  EXPECT_NE(draw_case(1, 4, size).c.variant, draw_case(2, 4, size).c.variant);
}

TEST(RandomSettings, OfACaseAreTheSameOnFramesOfAnySize) {
  for (int n = 1; n <= 500; ++n) {
    const DrawnCase small = draw_case(3, n, kTiny), large = draw_case(3, n, {3840, 2160, 16});
    const auto without_roi = [](const std::string &line) {
      return line.substr(0, line.find(" roi"));
    };
    EXPECT_EQ(without_roi(small.c.variant), without_roi(large.c.variant));
    EXPECT_EQ(small.c.size.depth, large.c.size.depth);
    EXPECT_EQ(small.family, large.family);
  }
}

TEST(RandomSettings, HaveEveryFamilyAndOperator) {
  std::map<std::pair<const Family *, int>, int> drawn;
  std::set<std::string> ops, lines;
  for (int n = 1; n <= kMany; ++n) {
    const DrawnCase d = draw_case(1, n, kTiny);
    ++drawn[{d.family, d.c.size.depth}];
    ops.insert(d.c.op);
    lines.insert(d.c.variant.substr(0, d.c.variant.find(' ', d.c.variant.find(' ') + 1)));
  }
  for (const Family &family : families())
    for (const int depth : {8, 16}) {
      if (family.budget_us(depth, Content::natural) < 0) continue;
      EXPECT_GT((drawn[{&family, depth}]), 0) << family.title() << ", " << depth << " bit";
    }
#define EXPECT_DRAWN(op, Name) EXPECT_TRUE(ops.contains(#op)) << #op;
  CUDASCAN_ALL_OPERATORS(EXPECT_DRAWN)
  for (int op = 0; op < static_cast<int>(SwoFilterOperator::custom); ++op)
    EXPECT_TRUE(lines.contains(std::string("cudaswofilter operator=") +
                               name(static_cast<SwoFilterOperator>(op))));
}

TEST(RandomSettings, AreValid) {
  Cpu cpu(1);
  for (int n = 1; n <= 1500; ++n) {
    const DrawnCase d = draw_case(5, n, kTiny);
    const std::ptrdiff_t stride = stride_of(d.c.size, 256);
    std::vector<std::uint8_t> in = make_content(Content::random, d.c.size, stride), out(in.size());
    const auto plane = [&](std::vector<std::uint8_t> &bytes) {
      return AnyPlane{bytes.data(), kTiny.width, kTiny.height, d.c.size.depth, stride};
    };
    EXPECT_NO_THROW(d.c.runner.cpu(cpu, plane(in), plane(out))) << d.c.variant;
  }
}

TEST(RandomSettings, HaveTheBudgetOfTheirFamily) {
  const auto budget = [](const char *name, int side, int depth,
                         Content content = Content::natural) {
    return family_of(name, side, depth).budget_us(depth, content);
  };
  EXPECT_EQ(budget("extrema, ellipse", 33, 8), 80);
  EXPECT_EQ(budget("extrema, ellipse", 35, 8), 200);
  EXPECT_EQ(budget("composites, ellipse", 255, 16), 1800);
  EXPECT_EQ(budget("median and rank, rectangle", 9, 8), 300);
  EXPECT_EQ(budget("median and rank, rectangle", 9, 16), 400);
  EXPECT_EQ(budget("median and rank, rectangle", 11, 16), 2000);
  EXPECT_EQ(budget("median and rank, rectangle", 255, 16, Content::random), 8000);
  EXPECT_EQ(budget("median and rank, rectangle", 255, 8, Content::random), 1000);
  EXPECT_EQ(budget("lines, invariant", 42, 8), 1000);
  EXPECT_EQ(budget("rotate", 0, 8), kFrameUs);
  EXPECT_EQ(family_of("lines, invariant", 41, 8).title(), "lines, invariant up to 41");
  EXPECT_THROW(family_of("nothing", 1, 8), Error);
}

TEST(Dice, DrawsOctavesEquallyOften) {
  Dice dice(1);
  std::map<int, int> octaves;
  constexpr int kDraws = 70000;
  for (int i = 0; i < kDraws; ++i) {
    const int drawn = dice.log_uniform(3, 300);
    ASSERT_TRUE(drawn >= 3 && drawn <= 300);
    ++octaves[static_cast<int>(std::log2(drawn))];
  }
  for (int octave = 2; octave <= 7; ++octave) EXPECT_NEAR(octaves[octave], octaves[2], 500);
  EXPECT_LT(octaves[1], octaves[2]);  // only 3 of 2 and 3
  EXPECT_LT(octaves[8], octaves[2]);  // up to 300 of 511
  EXPECT_EQ(Dice(2).log_uniform(1, 1), 1);
}

}  // namespace
}  // namespace cudascan::bench
