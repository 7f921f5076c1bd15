// SPDX-License-Identifier: LGPL-2.1-or-later
// The annotated sources of examples/gswo, run by the library's operator custom. They give the same
// pictures as the built-in operators, or as the sources compiled as sequential functions, bit for
// bit.
#include <gtest/gtest.h>

#include "tests/usercode/examples.h"
#include "tests/usercode/pragmas.h"

namespace cudascan::test {
namespace {

using Op = SwoFilterOperator;
using Border = SwoFilterBorder;

struct Example {
  std::string name;          // of the file
  SwoFilterParams built_in;  // the equal operator, or median if there is none
  Constants constants = {};
  bool scales = false;  // has a parameter for the largest level
  bool binary = false;
};

const Example kExamples[] = {
    {"min", {.op = Op::minimum, .border = Border::replicate}},
    {"max", {.op = Op::maximum, .border = Border::reflect}},
    {"midpoint", {.op = Op::midpoint, .border = Border::constant, .border_value = 77}},
    {"median", {.op = Op::median, .window = 5, .border = Border::reflect}},
    {"mode", {.op = Op::mode, .border = Border::replicate}},
    {"alpha_trimmed_mean",
     {.op = Op::alpha_trimmed_mean, .border = Border::constant, .border_value = 77, .alpha = 0.12},
     {{"alpha", 0.12}}},
    {"directional_median", {.op = Op::directional_median, .window = 5, .border = Border::reflect}},
    {"mean", {.op = Op::mean, .window = 5}},
    {"standard_deviation", {.op = Op::standard_deviation, .window = 5}},
    {"erosion",
     {.op = Op::erode,
      .window_width = 5,
      .window_height = 3,
      .border = Border::constant,
      .border_value = 77}},
    {"dilation",
     {.op = Op::dilate, .window_width = 3, .window_height = 5, .border = Border::replicate}},
    {"opening", {.op = Op::open, .window_width = 7, .window_height = 3}},
    {"closing", {.op = Op::close, .window_width = 1, .window_height = 5}},
    {"hit_or_miss", {.op = Op::hit_or_miss, .shape = "-00;110;-1-"}, {}, true, true},
    {"thinning",
     {.op = Op::thin, .border = Border::constant, .iterations = 2},
     {{"passes", std::int64_t{2}}},
     true,
     true},
    {"thickening",
     {.op = Op::thicken, .border = Border::constant, .iterations = 3},
     {{"passes", std::int64_t{3}}},
     true,
     true},
    {"recursive_erosion", {.op = Op::recursive_erode, .window = 5}},
    {"recursive_dilation", {.op = Op::recursive_dilate, .window = 3}},
    {"camera_fingerprint", {.op = Op::median}, {}, true},
    {"document_segmentation",
     {.op = Op::median, .window_width = 9, .window_height = 5},
     {{"threshold", std::int64_t{99}}},
     true},
};

/// The example as a filter for a format with levels from 0 to `top`.
SwoFilterParams custom_of(const Example &example, int top) {
  SwoFilterParams p = example.built_in;
  p.op = Op::custom;
  p.shape = "rectangle";
  p.iterations = 0;
  p.custom.source = GSWO_EXAMPLES "/" + example.name + ".cpp";
  p.custom.cache_dir = "";
  p.custom.constants = example.constants;
  if (!example.scales) return p;
  const bool is_white = example.binary || example.name == "document_segmentation";
  p.custom.constants.push_back({is_white ? "white" : "maximum", std::int64_t{top}});
  return p;
}

/// Calls a sequential function with the levels of an image.
template <typename T, typename Function>
std::vector<T> sequentially(const Image<T> &in, Function function) {
  const int shift = std::countr_zero(in.plane().maximum);
  Pixels levels;
  for (const T sample : in.samples()) levels.push_back(static_cast<pixel>(sample >> shift));
  std::vector<T> samples;
  for (const pixel level : function(levels, Size{in.width(), in.height()}))
    samples.push_back(static_cast<T>(level << shift));
  return samples;
}

template <typename T>
std::vector<T> expected_of(const Example &example, const Image<T> &in) {
  const T maximum = in.plane().maximum;
  const auto top = static_cast<pixel>(maximum >> std::countr_zero(maximum));
  if (example.name == "camera_fingerprint")
    return sequentially(
        in, [&](const Pixels &levels, Size size) { return fingerprint(levels, size, 4, top); });
  if (example.name == "document_segmentation")
    return sequentially(in, [&](const Pixels &levels, Size size) {
      return segmented(levels, size, {9, 5}, 99, top);
    });
  CpuRunner cpu;
  return filtered(cpu, in, example.built_in);
}

constexpr Size kSizes[] = {{1, 1}, {2, 3}, {19, 1}, {1, 17}, {33, 8}, {131, 53}};

template <typename T, typename Runner>
void expect_example(Runner &runner, const Example &example, T maximum) {
  const SwoFilterParams custom = custom_of(example, maximum >> std::countr_zero(maximum));
  for (int turn = 0; const Size size : kSizes)
    for (const Content content : kContents) {
      const Layout layout = kLayouts[turn++ % std::size(kLayouts)];
      SCOPED_TRACE(testing::Message()
                   << example.name << ", maximum " << +maximum << ", " << size.width << "x"
                   << size.height << ", content " << static_cast<int>(content));
      auto samples = make_content<T>(content, size.width, size.height, maximum);
      if (example.binary) samples = with_black(samples, maximum);
      const Image<T> in(samples, size.width, size.height, layout, maximum);
      Image<T> out(size.width, size.height, kLayouts[turn % std::size(kLayouts)], maximum);
      runner(in, out, custom);
      ASSERT_TRUE(same(expected_of(example, in), out.samples(), size.width));
      ASSERT_TRUE(out.guards_intact());
    }
}

/// All examples with 8 bits; one of `step` also with 16 bits, 10 low bits or 10 high bits in turn.
template <typename Runner>
void expect_examples(Runner &runner, int step) {
  constexpr std::uint16_t kDeep[] = {0xffff, 0x3ff, 0xffc0};
  for (int turn = 0; const Example &example : kExamples) {
    expect_example<std::uint8_t>(runner, example, 0xff);
    if (++turn % step == 0)
      expect_example<std::uint16_t>(runner, example, kDeep[turn / step % std::size(kDeep)]);
  }
}

TEST(GswoPragmas, ExamplesGiveThePicturesOfTheBuiltInOperators) {
  CpuRunner cpu(2);
  expect_examples(cpu, 3);
}

#ifdef HAVE_CUDA
TEST(GswoPragmasCuda, ExamplesGiveThePicturesOfTheBuiltInOperators) {
  NEED_GPU();
  CudaRunner cuda;
  expect_examples(cuda, 1);
}
#endif

TEST(GswoPragmas, EveryExampleIsTested) {
  for (const std::string &path : files_in(GSWO_EXAMPLES)) {
    const bool known = std::any_of(
        std::begin(kExamples), std::end(kExamples),
        [&](const Example &example) { return path.ends_with("/" + example.name + ".cpp"); });
    EXPECT_TRUE(known || !path.ends_with(".cpp")) << path;
  }
}

/// Each border rule, for each kind of format.
template <typename Runner>
void expect_borders(Runner &runner) {
  const auto expect = [&]<typename T>(T maximum, Border border, int value) {
    SCOPED_TRACE(testing::Message()
                 << "maximum " << +maximum << ", border " << static_cast<int>(border));
    SwoFilterParams p{.op = Op::median, .window = 3, .border = border, .border_value = value};
    SwoFilterParams custom = p;
    custom.op = Op::custom;
    custom.custom.source = GSWO_EXAMPLES "/median.cpp";
    custom.custom.cache_dir = "";
    if (border == Border::clip) p.border = Border::replicate;
    CpuRunner cpu;
    for (const Size size : {Size{2, 1}, Size{61, 17}}) {
      const auto in = picture<T>(size, Content::random, maximum);
      ASSERT_TRUE(same(filtered(cpu, in, p), filtered(runner, in, custom), size.width));
    }
  };
  expect(std::uint8_t{0xff}, Border::clip, 0);
  expect(std::uint8_t{0xff}, Border::constant, 0);
  expect(std::uint16_t{0xffff}, Border::reflect, 0);
  expect(std::uint16_t{0x3ff}, Border::constant, 1023);
  expect(std::uint16_t{0xffc0}, Border::constant, 600);
  expect(std::uint16_t{0xfff0}, Border::replicate, 600);
  expect(std::uint16_t{0xffc0}, Border::reflect, 0);
}

TEST(GswoPragmas, BordersAreThoseOfTheBuiltInOperators) {
  CpuRunner cpu(1);
  expect_borders(cpu);
}
#ifdef HAVE_CUDA
TEST(GswoPragmasCuda, BordersAreThoseOfTheBuiltInOperators) {
  NEED_GPU();
  CudaRunner cuda;
  expect_borders(cuda);
}
#endif

/// Users' code works with levels and does not see unused bits. Results are limited to the largest
/// level.
TEST(GswoPragmas, ResultsAreLevels) {
  CpuRunner cpu(1);
  const Files files;
  const SwoFilterParams p = source_filter(files.write(
      "f.cpp", one_window("out[i][j] = in[i][j] * f + o;", ", double f = 1, double o = 0")));
  const auto results = [&]<typename T>(const std::vector<T> &samples, T maximum, double factor,
                                       double offset) {
    const Image<T> in(samples, static_cast<int>(samples.size()), 1, {}, maximum);
    SwoFilterParams with = p;
    with.custom.constants = {{"f", factor}, {"o", offset}};
    return filtered(cpu, in, with);
  };
  using U8 = std::vector<std::uint8_t>;
  using U16 = std::vector<std::uint16_t>;
  EXPECT_EQ(results(U8{0, 1, 100, 255}, std::uint8_t{255}, 2, 0), (U8{0, 2, 200, 255}));
  EXPECT_EQ(results(U8{0, 1, 3, 255}, std::uint8_t{255}, 0.5, 0), (U8{0, 1, 2, 128}));
  EXPECT_EQ(results(U8{0, 1, 3, 255}, std::uint8_t{255}, 1, -2), (U8{0, 0, 1, 253}));
  EXPECT_EQ(results(U16{0, 500, 1023}, std::uint16_t{1023}, 2, 1), (U16{1, 1001, 1023}));
  EXPECT_EQ(results(U16{0, 500 << 6, 1023 << 6}, std::uint16_t{0xffc0}, 2, 1),
            (U16{1 << 6, 1001 << 6, 0xffc0}));
  EXPECT_EQ(results(U16{0, 40000, 65535}, std::uint16_t{65535}, 2, 1), (U16{1, 65535, 65535}));
}

}  // namespace
}  // namespace cudascan::test
