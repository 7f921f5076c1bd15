// SPDX-License-Identifier: LGPL-2.1-or-later
// Settings of cudaswofilter's operators: wrong ones, windows, borders, and a job in the units of a
// format.
#include <cmath>
#include <initializer_list>
#include <string>
#include <tuple>

#include "kernels/swofilter.h"
#include "kernels/swofilter/window.h"
#include "tests/kernels/operator_test.h"

namespace cudascan {
namespace {

using Params = SwoFilterParams;
using Op = SwoFilterOperator;
using Border = SwoFilterBorder;
using swo::Job;
using swo::Mask;
using test::Image;

constexpr auto kTemplates = SwoFilterThinning::templates;

/// What run() on the CPU refuses with.
template <typename In, typename Out>
std::string refusal_of_run(const Params &params, In maximum) {
  Cpu cpu;
  const Image<In> in(std::vector<In>(20 * 20), 20, 20, {}, maximum);
  Image<Out> out(20, 20);
  try {
    run(cpu, in.plane(), out.plane(), params);
  } catch (const BadSetting &e) {
    return e.what();
  }
  return "accepted";
}

/// The message that the parameters are refused with; both validate() and run() must give it.
std::string refusal(const Params &params) {
  try {
    validate(params);
  } catch (const BadSetting &e) {
    const std::string message = e.what();
    EXPECT_EQ((refusal_of_run<std::uint8_t, std::uint8_t>(params, 0xff)), message);
    EXPECT_EQ((refusal_of_run<std::uint16_t, std::uint16_t>(params, 0xffff)), message);
    return message;
  }
  return "accepted";
}

/// The message begins with the setting and its value, and has these words.
void expect_message(const std::string &message, const std::string &begin,
                    std::initializer_list<const char *> words) {
  EXPECT_TRUE(message.starts_with(begin)) << '"' << begin << "\" does not begin: " << message;
  for (const char *word : words)
    EXPECT_NE(message.find(word), std::string::npos) << '"' << word << "\" is not in: " << message;
}
void expect_refusal(const Params &params, const std::string &begin,
                    std::initializer_list<const char *> words) {
  expect_message(refusal(params), begin, words);
}

// ---- Refusals
// ------------------------------------------------------------------------------------

TEST(SwoFilterRefuses, Windows) {
  const struct {
    const char *name;
    int Params::*side;
  } sides[] = {{"window", &Params::window},
               {"window-width", &Params::window_width},
               {"window-height", &Params::window_height}};
  for (const auto &[name, side] : sides) {
    for (const int value : {-3, -1, 2, 4, 254, 256, 257, 100001}) {
      Params params;
      params.*side = value;
      expect_refusal(params, std::string(name) + " = " + std::to_string(value) + ": ",
                     {"odd", "1 to 255"});
    }
    Params params;
    params.*side = 254;
    expect_refusal(params, name, {"for instance 255"});
  }
  expect_refusal({.window = 0}, "window = 0: ", {"odd", "1 to 255"});
}

TEST(SwoFilterRefuses, Shapes) {
  const struct {
    const char *shape, *why;
  } shapes[] = {{"circle", "other characters"},
                {"", "odd number"},
                {";", "odd number"},
                {"010;111", "odd number"},
                {"0110", "odd number"},
                {"010;11;010", "different lengths"},
                {"010;111;010;", "different lengths"},
                {";111;010", "different lengths"},
                {"000;000;000", "a cell that is 1"},
                {"0-0;111;010", "cells that are -"},
                {"010;111;010 010;111;010", "other characters"},
                {"Rectangle", "other characters"}};
  for (const Op op : {Op::erode, Op::median, Op::recursive_dilate})
    for (const auto &[shape, why] : shapes)
      expect_refusal({.op = op, .shape = shape}, "shape = \"" + std::string(shape) + "\": ",
                     {why, "rectangle, ellipse, cross", "rows of 0 and 1", "010;111;010"});
  expect_refusal({.op = Op::erode, .shape = std::string(33, '1')}, "shape = \"111", {"at most 31"});
  std::string high = "1";
  for (int row = 1; row < 33; ++row) high += ";1";
  expect_refusal({.op = Op::erode, .shape = high}, "shape = \"1;1", {"at most 31"});
}

TEST(SwoFilterRefuses, Patterns) {
  const auto refused = [](const char *shape, std::initializer_list<const char *> words) {
    expect_refusal({.op = Op::hit_or_miss, .shape = shape}, "shape = \"", words);
    expect_refusal({.op = Op::thin, .shape = shape, .thinning = kTemplates}, "shape = \"", words);
  };
  refused("---;---;---", {"a cell that is 1 or 0", "0 and 1 and -"});
  refused("010;111;010 01;11", {"\"01;11\"", "odd number"});
  refused("  ", {"odd number"});
  refused("010;1x1;010", {"other characters"});
  for (const Op op : {Op::thin, Op::thicken}) {
    for (const char *shape : {"010", "010;111;010 01010;01010;01010", "1;1;1"})
      expect_refusal({.op = op, .shape = shape, .thinning = kTemplates},
                     "shape = \"" + std::string(shape) + "\": ", {"three rows of three cells"});
    for (const char *shape : {"ellipse", "cross"})
      expect_refusal({.op = op, .shape = shape, .thinning = kTemplates}, "shape = \"",
                     {"other characters"});
  }
}

TEST(SwoFilterRefuses, NumbersOutOfRange) {
  expect_refusal({.border_value = -1}, "border-value = -1: ", {"0 to 65535"});
  expect_refusal({.border_value = 65536}, "border-value = 65536: ", {"0 to 65535"});
  expect_refusal({.percentile = -0.5}, "percentile = -0.5: ", {"0 to 100"});
  expect_refusal({.percentile = 100.5}, "percentile = 100.5: ", {"0 to 100"});
  expect_refusal({.percentile = NAN}, "percentile = nan: ", {"0 to 100"});
  expect_refusal({.percentile = INFINITY}, "percentile = inf: ", {"0 to 100"});
  expect_refusal({.alpha = -0.1}, "alpha = -0.1: ", {"0 to 0.5"});
  expect_refusal({.alpha = 0.51}, "alpha = 0.51: ", {"0 to 0.5"});
  expect_refusal({.alpha = NAN}, "alpha = nan: ", {"0 to 0.5"});
  expect_refusal({.iterations = -1}, "iterations = -1: ", {"until nothing changes"});
  expect_refusal({.height = -1}, "height = -1: ", {"0 to 65535"});
  expect_refusal({.height = 65536}, "height = 65536: ", {"0 to 65535"});
  for (const int connectivity : {-4, 0, 5, 6, 7, 9})
    expect_refusal({.connectivity = connectivity},
                   "connectivity = " + std::to_string(connectivity) + ": ", {"4 or 8"});
}

TEST(SwoFilterRefuses, UnknownChoices) {
  expect_refusal({.op = Op{30}}, "operator = 30: ", {"0 to 29"});
  expect_refusal({.op = static_cast<Op>(-1)}, "operator = -1: ", {"0 to 29"});
  expect_refusal({.border = Border{4}}, "border = 4: ", {"0 to 3"});
  expect_refusal({.thinning = SwoFilterThinning{3}}, "thinning = 3: ", {"0 to 2"});
  expect_refusal({.marker = SwoFilterMarker{2}}, "marker = 2: ", {"0 to 1"});
  expect_refusal({.algorithm = SwoFilterAlgorithm{2}}, "algorithm = 2: ", {"0 to 1"});
}

TEST(SwoFilterRefuses, BordersThatRecursionWouldChange) {
  for (const Op op : {Op::recursive_erode, Op::recursive_dilate}) {
    expect_refusal({.op = op, .border = Border::replicate},
                   "border = replicate: ", {"clip or constant"});
    expect_refusal({.op = op, .border = Border::reflect},
                   "border = reflect: ", {"clip or constant"});
  }
}

TEST(SwoFilterRefuses, NothingWithinTheRanges) {
  const std::string widest(31, '1');
  for (const Params &params :
       {Params{}, Params{.window = 1}, Params{.window = 255},
        Params{.window_width = 1, .window_height = 255}, Params{.op = Op::erode, .shape = widest},
        Params{.op = Op::erode, .shape = "1"}, Params{.op = Op::erode, .shape = "000;000;001"},
        Params{.op = Op::hit_or_miss, .shape = "000;000;000"},
        Params{.op = Op::hit_or_miss, .shape = " -1-;-0-;---  1  "},
        Params{.op = Op::thin, .shape = "000;-1-;111", .thinning = kTemplates},
        Params{.border_value = 65535}, Params{.percentile = 0}, Params{.percentile = 100},
        Params{.alpha = 0}, Params{.alpha = 0.5}, Params{.iterations = 1 << 30},
        Params{.height = 65535}, Params{.height = 0}, Params{.connectivity = 4},
        Params{.op = Op::recursive_erode, .border = Border::constant},
        // What an operator does not use may be anything.
        Params{.op = Op::thin, .shape = "010"}, Params{.op = Op::reconstruct, .shape = "cross"}})
    EXPECT_EQ(refusal(params), "accepted");
}

TEST(SwoFilterRefuses, LevelsThatTheFormatDoesNotHave) {
  const Params params{.border = Border::constant, .border_value = 1024};
  const std::string begin = "border-value = 1024: ";
  expect_message(refusal_of_run<std::uint8_t, std::uint8_t>(params, 0xff), begin,
                 {"0 to 255", "this format"});
  expect_message(refusal_of_run<std::uint16_t, std::uint16_t>(params, 0x3ff), begin, {"0 to 1023"});
  expect_message(refusal_of_run<std::uint16_t, std::uint16_t>(params, 0xffc0), begin,
                 {"0 to 1023"});
  // Without it the value has no meaning.
  EXPECT_NO_THROW(swo::make_job({.border_value = 1024}, 0xff, 9, 9, 9, 9, true));
}

TEST(SwoFilterRefuses, AnotherDepthUnlessBlackAndWhite) {
  for (int i = 0; i <= static_cast<int>(Op::clear_border); ++i) {
    const Params params{.op = static_cast<Op>(i)};
    if (is_binary(params.op))
      EXPECT_NO_THROW(swo::make_job(params, 0xffff, 9, 9, 9, 9, false)) << i;
    else
      expect_message(refusal_of_run<std::uint16_t, std::uint8_t>(params, 0xffff),
                     "the output format must have the depth of the input format",
                     {"hit-or-miss, thin and thicken"});
  }
  EXPECT_TRUE(is_binary(Op::hit_or_miss) && is_binary(Op::thin) && is_binary(Op::thicken));
}

TEST(SwoFilterRefuses, PlanesOfDifferentSizes) {
  Cpu cpu;
  const Image<std::uint8_t> in(20, 10);
  Image<std::uint8_t> wider(21, 10), higher(20, 11);
  EXPECT_THROW(run(cpu, in.plane(), wider.plane(), Params{}), BadSetting);
  EXPECT_THROW(run(cpu, in.plane(), higher.plane(), Params{}), BadSetting);
}

#ifdef HAVE_CUDA
TEST(SwoFilterRefuses, CudaTheSame) {
  NEED_GPU();
  test::CudaRunner cuda;
  const Image<std::uint8_t> in(20, 20);
  for (const Params &params :
       {Params{.window = 2}, Params{.op = Op::erode, .shape = "11"}, Params{.percentile = NAN},
        Params{.connectivity = 6}, Params{.op = Op::recursive_erode, .border = Border::reflect}})
    EXPECT_EQ(test::outcome<std::uint8_t>(cuda, in, {}, std::uint8_t{255}, params, 0).refused,
              refusal(params));
}
#else
TEST(SwoFilterRefuses, TheGpuInABuildWithoutIt) {
  Cuda cuda;
  std::uint8_t in = 1, out = 2;
  EXPECT_THROW(run(cuda, Plane<const std::uint8_t>{&in, 1, 1, 1},
                   Plane<std::uint8_t>{&out, 1, 1, 1}, Params{}),
               Error);
}
#endif

// ---- Windows
// -------------------------------------------------------------------------------------

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
  const Job job =
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

/// Cells that are on in each row of an ellipse; fails unless they lie around the middle.
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
  // FNV-1a of the rows of all others, by width, then height, of getStructuringElement in OpenCV
  // 4.6.
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

// ---- Borders and levels
// --------------------------------------------------------------------------

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
  // Further out than the image is wide.
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
    const Job j = job(c.maximum, c.border_value, c.height);
    EXPECT_EQ(j.outside, c.outside);
    EXPECT_EQ(j.height, c.shifted_by);
    EXPECT_EQ(j.shift, c.shift);
    EXPECT_EQ(j.maximum, c.maximum);
  }
}

TEST(SwoFilterJob, CountsInMillionths) {
  const auto job = [](double percentile, double alpha) {
    const Job j = swo::make_job({.percentile = percentile, .alpha = alpha}, 255, 9, 9, 9, 9, true);
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
