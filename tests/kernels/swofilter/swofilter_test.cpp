// SPDX-License-Identifier: LGPL-2.1-or-later
// Settings of cudaswofilter's operators: refused settings, windows, borders, and settings in units
// of a format.
#include <cmath>
#include <initializer_list>
#include <string>

#include "kernels/swofilter.h"
#include "kernels/swofilter/window.h"
#include "tests/kernels/operator_test.h"

namespace cudascan {
namespace {

using Params = SwoFilterParams;
using Op = SwoFilterOperator;
using Border = SwoFilterBorder;
using test::Image;

constexpr auto kTemplates = SwoFilterThinning::templates;

/// The message with which run() on the CPU refuses the parameters.
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

/// The message with which validate() and run() refuse the parameters; both must be the same.
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

/// The message must begin with the setting and its value, and contain these words.
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

// ---- Refusals -----------------------------------------------------------------------------------

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
  } shapes[] = {{"circle", "characters that a mask cannot have"},
                {"", "odd number"},
                {";", "odd number"},
                {"010;111", "odd number"},
                {"0110", "odd number"},
                {"010;11;010", "different lengths"},
                {"010;111;010;", "different lengths"},
                {";111;010", "different lengths"},
                {"000;000;000", "a cell that is 1"},
                {"0-0;111;010", "cells that are -"},
                {"010;111;010 010;111;010", "characters that a mask cannot have"},
                {"Rectangle", "characters that a mask cannot have"}};
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
  refused("010;1x1;010", {"characters that a mask cannot have"});
  for (const Op op : {Op::thin, Op::thicken}) {
    for (const char *shape : {"010", "010;111;010 01010;01010;01010", "1;1;1"})
      expect_refusal({.op = op, .shape = shape, .thinning = kTemplates},
                     "shape = \"" + std::string(shape) + "\": ", {"three rows of three cells"});
    for (const char *shape : {"ellipse", "cross"})
      expect_refusal({.op = op, .shape = shape, .thinning = kTemplates}, "shape = \"",
                     {"characters that a mask cannot have"});
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
        // An operator accepts any value of a setting that it does not use.
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
  // Without border = constant the border value is not used.
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

}  // namespace
}  // namespace cudascan
