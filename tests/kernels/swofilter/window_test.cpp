// SPDX-License-Identifier: LGPL-2.1-or-later
// Windows of cudaswofilter's operators, borders, and settings in units of a format.
#include "kernels/swofilter/window.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/swofilter.h"

namespace cudascan {
namespace {

using Params = SwoFilterParams;
using Op = SwoFilterOperator;
using Border = SwoFilterBorder;
using swo::FilterJob;
using swo::Mask;

constexpr auto kTemplates = SwoFilterThinning::templates;

// ---- Windows ------------------------------------------------------------------------------------

Mask mask_of(const std::string &shape, Op op = Op::hit_or_miss) {
  return swo::make_job({.op = op, .shape = shape}, 0xff, 9, 9, 9, 9, true).mask();
}

std::string text_of(const Mask &mask) {
  std::string text;
  for (int row = 0; row < mask.height; ++row) {
    if (row) text += ';';
    for (int column = 0; column < mask.width; ++column)
      text += mask.at(column, row) == Mask::any  ? '-'
              : mask.at(column, row) == Mask::on ? '1'
                                                 : '0';
  }
  return text;
}

TEST(SwoFilterWindow, IsWhatTheTextSays) {
  for (const char *text : {"1", "010;111;010", "10010;01110;00001", "1;0;1", "111"})
    for (const Op op : {Op::hit_or_miss, Op::erode}) EXPECT_EQ(text_of(mask_of(text, op)), text);
  EXPECT_EQ(text_of(mask_of("-1-;0-0;111")), "-1-;0-0;111");
  const FilterJob job =
      swo::make_job({.op = Op::hit_or_miss, .shape = "01- 1;-;0\t1"}, 0xff, 9, 9, 9, 9, true);
  ASSERT_EQ(job.masks.size(), 3u);
  EXPECT_EQ(text_of(job.masks[0]), "01-");
  EXPECT_EQ(text_of(job.masks[1]), "1;-;0");
  EXPECT_EQ(text_of(job.masks[2]), "1");
}

TEST(SwoFilterWindow, HasItsSizesAndItsShape) {
  const auto job = [](const Params &params) {
    return swo::make_job(params, 0xff, 9, 9, 9, 9, true);
  };
  const auto size = [&](const Params &params) {
    const Mask mask = job(params).mask();
    return std::pair(mask.width, mask.height);
  };
  EXPECT_EQ(size({}), std::pair(3, 3));
  EXPECT_EQ(size({.window = 7}), std::pair(7, 7));
  EXPECT_EQ(size({.window = 7, .window_width = 11}), std::pair(11, 7));
  EXPECT_EQ(size({.window = 7, .window_height = 1}), std::pair(7, 1));
  EXPECT_EQ(size({.window_width = 255, .window_height = 5}), std::pair(255, 5));
  EXPECT_EQ(size({.window = 7, .shape = "010"}), std::pair(3, 1));
  EXPECT_EQ(text_of(job({.window_width = 5}).mask()), "11111;11111;11111");
  EXPECT_EQ(text_of(job({.window_width = 5, .shape = "cross"}).mask()), "00100;11111;00100");
  EXPECT_EQ(text_of(job({.window = 5, .shape = "ellipse"}).mask()),
            "00100;11111;11111;11111;00100");
  EXPECT_TRUE(job({.op = Op::thin}).masks.empty());
  EXPECT_TRUE(job({.op = Op::thicken, .thinning = kTemplates}).masks.empty());
  EXPECT_EQ(job({.op = Op::thin, .shape = "000;-1-;111 -00;110;-1-", .thinning = kTemplates})
                .masks.size(),
            2u);
}

TEST(SwoFilterWindow, KnowsWhetherItIsARectangle) {
  EXPECT_TRUE(Mask::make_rectangle(5, 3).rectangle);
  EXPECT_TRUE(Mask::make_cross(1, 9).rectangle);
  EXPECT_TRUE(Mask::make_cross(9, 1).rectangle);
  EXPECT_FALSE(Mask::make_cross(3, 3).rectangle);
  EXPECT_TRUE(Mask::make_ellipse(1, 5).rectangle);
  EXPECT_TRUE(Mask::make_ellipse(5, 1).rectangle);
  EXPECT_FALSE(Mask::make_ellipse(3, 3).rectangle);
  EXPECT_TRUE(mask_of("111;111;111").rectangle);
  EXPECT_FALSE(mask_of("111;1-1;111").rectangle);
  EXPECT_FALSE(mask_of("111;101;111").rectangle);
}

/// The number of cells that are on in each row of an ellipse. Fails if they are not centred.
std::vector<int> rows_of_ellipse(int width, int height) {
  const Mask mask = Mask::make_ellipse(width, height);
  std::vector<int> counts;
  for (int row = 0; row < height; ++row) {
    int n = 0;
    for (int column = 0; column < width; ++column) n += mask.at(column, row) == Mask::on;
    for (int x = 0; x <= n / 2; ++x)
      if (mask.at(mask.rx() + x, row) != Mask::on || mask.at(mask.rx() - x, row) != Mask::on)
        ADD_FAILURE() << width << "x" << height << ", row " << row << " is not around the middle";
    EXPECT_EQ(n % 2, 1);
    counts.push_back(n);
  }
  return counts;
}

TEST(SwoFilterWindow, EllipsesAreOpenCVs) {
  using Counts = std::vector<int>;
  EXPECT_EQ(rows_of_ellipse(3, 3), (Counts{1, 3, 1}));
  EXPECT_EQ(rows_of_ellipse(7, 7), (Counts{1, 5, 7, 7, 7, 5, 1}));
  EXPECT_EQ(rows_of_ellipse(9, 5), (Counts{1, 7, 9, 7, 1}));
  EXPECT_EQ(rows_of_ellipse(5, 9), (Counts{1, 3, 5, 5, 5, 5, 5, 3, 1}));
  EXPECT_EQ(rows_of_ellipse(15, 15),
            (Counts{1, 9, 11, 13, 13, 15, 15, 15, 15, 15, 13, 13, 11, 9, 1}));
  EXPECT_EQ(rows_of_ellipse(5, 1), Counts{5});
  // A hash (FNV-1a) of the rows of all other ellipses, by width, then height, from
  // getStructuringElement of OpenCV 4.6.
  std::uint64_t hash = 14695981039346656037u;
  for (int width = 1; width <= 255; width += 2)
    for (int height = 3; height <= 255; height += 2)
      for (const int n : rows_of_ellipse(width, height))
        hash = (hash ^ static_cast<unsigned>(n)) * 1099511628211u;
  EXPECT_EQ(hash, 0x5b8ef802902fd6b9u);
}

using Runs = std::vector<std::tuple<int, int, int>>;
Runs runs_of(const Mask &mask) {
  Runs runs;
  for (const swo::Run &run : mask.runs()) runs.emplace_back(run.first, run.last, run.y);
  return runs;
}

TEST(SwoFilterWindow, IsMadeOfRuns) {
  EXPECT_EQ(runs_of(mask_of("010;111;010")), (Runs{{0, 0, -1}, {-1, 1, 0}, {0, 0, 1}}));
  EXPECT_EQ(runs_of(mask_of("11011;00000;1-101")),
            (Runs{{-2, -1, -1}, {1, 2, -1}, {-2, -2, 1}, {0, 0, 1}, {2, 2, 1}}));
  EXPECT_EQ(runs_of(Mask::make_rectangle(255, 1)), (Runs{{-127, 127, 0}}));
  EXPECT_EQ(runs_of(Mask::make_rectangle(1, 3)), (Runs{{0, 0, -1}, {0, 0, 0}, {0, 0, 1}}));
  std::string most;
  for (int row = 0; row < 31; ++row) {
    if (row) most += ';';
    for (int column = 0; column < 31; ++column) most += column % 2 ? '0' : '1';
  }
  EXPECT_EQ(mask_of(most).runs().size(), 496u);
  EXPECT_EQ(mask_of(most).count(), 496);
  EXPECT_TRUE(mask_of("000;000;000").runs().empty());
}

TEST(SwoFilterWindow, IsTurnedBy180Degrees) {
  EXPECT_EQ(text_of(mask_of("110;0-1;100").reflected()), "001;1-0;011");
  EXPECT_EQ(text_of(mask_of("01101").reflected()), "10110");
}

TEST(SwoFilterWindow, IsSymmetric) {
  for (const char *text : {"1", "010;111;010", "101", "1;0;1", "11011;00000;11011"})
    EXPECT_TRUE(mask_of(text).is_symmetric()) << text;
  for (const char *text : {"100", "1;1;0", "110;111;011", "11011;01110;10001;00000;00111"})
    EXPECT_FALSE(mask_of(text).is_symmetric()) << text;
}

TEST(SwoFilterWindow, ReachesInwards) {
  for (const char *text :
       {"1", "010;111;010", "11111", "00100;01110;11111;01110;00100", "000", "110;111;011"})
    EXPECT_TRUE(mask_of(text).reaches_inwards()) << text;
  for (const char *text : {"101", "1;0;0", "101;010;101", "100;000;000",
                           "00100;01110;11011;01110;00100", "111;010;000"})
    EXPECT_FALSE(mask_of(text).reaches_inwards()) << text;
  for (int side = 3; side <= 63; side += 4) {
    EXPECT_TRUE(Mask::make_ellipse(side, 21).reaches_inwards());
    EXPECT_TRUE(Mask::make_cross(21, side).reaches_inwards());
    EXPECT_TRUE(Mask::make_rectangle(side, 9).reaches_inwards());
  }
}

// ---- Borders and levels -------------------------------------------------------------------------

TEST(SwoFilterBorders, NameTheSampleThatStandsOutside) {
  const auto row = [](Border border, int n) {
    std::vector<int> samples;
    for (int i = -5; i < n + 5; ++i) samples.push_back(swo::resolve(i, n, border));
    return samples;
  };
  using Samples = std::vector<int>;
  const Samples nothing{-1, -1, -1, -1, -1, 0, 1, 2, -1, -1, -1, -1, -1};
  EXPECT_EQ(row(Border::clip, 3), nothing);
  EXPECT_EQ(row(Border::constant, 3), nothing);
  EXPECT_EQ(row(Border::replicate, 3), (Samples{0, 0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 2, 2}));
  EXPECT_EQ(row(Border::reflect, 3), (Samples{1, 2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0, 1}));
  EXPECT_EQ(row(Border::reflect, 1), Samples(11, 0));
  // Positions that are farther outside than the image is wide.
  for (int i = -300; i < 300; ++i) {
    EXPECT_EQ(swo::resolve(i, 2, Border::reflect), swo::resolve(i + 4, 2, Border::reflect));
    EXPECT_EQ(swo::resolve(i, 7, Border::reflect), swo::resolve(-1 - i, 7, Border::reflect));
  }
}

TEST(SwoFilterJob, HasLevelsAsSamplesOfTheFormat) {
  const auto job = [](unsigned maximum, int border_value, int height) {
    return swo::make_job(
        {.border = Border::constant, .border_value = border_value, .height = height}, maximum, 9, 9,
        9, 9, true);
  };
  const struct {
    unsigned maximum;
    int border_value, height;
    unsigned outside, shifted_by;
    int shift;
  } cases[] = {{0xff, 255, 32, 255, 32, 0},
               {0xff, 0, 300, 0, 255, 0},
               {0x3ff, 1000, 32, 1000, 32, 0},
               {0xffc0, 1000, 32, 64000, 2048, 6},
               {0xffc0, 1023, 65535, 0xffc0, 0xffc0, 6},
               {0xfff0, 1, 0, 16, 0, 4},
               {0xffff, 65535, 65535, 65535, 65535, 0}};
  for (const auto &c : cases) {
    const FilterJob j = job(c.maximum, c.border_value, c.height);
    EXPECT_EQ(j.outside, c.outside);
    EXPECT_EQ(j.height, c.shifted_by);
    EXPECT_EQ(j.shift, c.shift);
    EXPECT_EQ(j.maximum, c.maximum);
  }
}

TEST(SwoFilterJob, CountsInMillionths) {
  const auto job = [](double percentile, double alpha) {
    const FilterJob j =
        swo::make_job({.percentile = percentile, .alpha = alpha}, 255, 9, 9, 9, 9, true);
    return std::pair(j.percentile, j.alpha);
  };
  using Pair = std::pair<std::int64_t, std::int64_t>;
  EXPECT_EQ(job(50, 0.25), Pair(500000, 250000));
  EXPECT_EQ(job(0, 0), Pair(0, 0));
  EXPECT_EQ(job(100, 0.5), Pair(1000000, 500000));
  EXPECT_EQ(job(33.33333, 1.0 / 3), Pair(333333, 333333));
  EXPECT_EQ(job(99.99996, 0.4999996), Pair(1000000, 500000));
}

}  // namespace
}  // namespace cudascan
