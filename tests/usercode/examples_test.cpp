// SPDX-License-Identifier: LGPL-2.1-or-later
// The annotated sources of examples/gswo, compiled as sequential functions, give the same pictures
// as the operators of the library, bit for bit. If a source reads outside the image, it gets an
// image with a margin of border pixels.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "kernels/swofilter.h"
#include "tests/usercode/examples.h"

namespace cudascan::test {
namespace {

using Op = SwoFilterOperator;
using Border = SwoFilterBorder;

constexpr Size kSizes[] = {{1, 1}, {2, 3}, {19, 1}, {1, 17}, {33, 8}, {75, 53}};

/// The library's result for samples with 8 or 16 bits.
template <typename T>
Pixels built_in(const Pixels &samples, Size size, const SwoFilterParams &params) {
  const Image<T> in(std::vector<T>(samples.begin(), samples.end()), size.width, size.height);
  Image<T> out(size.width, size.height);
  Cpu cpu(1);
  run(cpu, in.plane(), out.plane(), params);
  const auto result = out.samples();
  return {result.begin(), result.end()};
}

using Result = std::function<Pixels(const Pixels &, Size, pixel most)>;

/// Compares the results for samples with 8 and 16 bits.
void expect_built_in(const Result &result, SwoFilterParams params) {
  const auto of_type = [&]<typename T>(T most, Content content, Size size) {
    SCOPED_TRACE(testing::Message()
                 << size.width << "x" << size.height << ", content " << static_cast<int>(content)
                 << ", most " << +most << ", operator " << static_cast<int>(params.op)
                 << ", window " << params.window << " (" << params.window_width << "x"
                 << params.window_height << "), border " << static_cast<int>(params.border));
    const auto made = make_content<T>(content, size.width, size.height, most);
    const Pixels samples(made.begin(), made.end());
    ASSERT_TRUE(same(built_in<T>(samples, size, params), result(samples, size, most), size.width));
  };
  for (const Size size : kSizes)
    for (const Content content : kContents) {
      of_type(std::uint8_t{0xff}, content, size);
      of_type(std::uint16_t{0xffff}, content, size);
      if (testing::Test::HasFatalFailure()) return;
    }
}

using Windowed = std::function<void(pixel **in, pixel **out, int width, int height, int window)>;

/// For a source that reads outside the image, with each border rule.
void expect_built_in_with_borders(const Windowed &filter, SwoFilterParams params) {
  for (const int window : {1, 3, 5, 7})
    for (const Border border : {Border::replicate, Border::reflect, Border::constant}) {
      params.window = window;
      params.border = border;
      params.border_value = border == Border::constant ? 77 : 0;
      expect_built_in(
          [&](const Pixels &samples, Size size, pixel) {
            Rows<pixel> in(samples, size, window / 2, border, 77), out(size);
            filter(in.get(), out.get(), size.width, size.height, window);
            return out.samples();
          },
          params);
    }
}

TEST(GswoExamples, Min) {
  expect_built_in_with_borders(min_filter, {.op = Op::minimum});
}
TEST(GswoExamples, Max) {
  expect_built_in_with_borders(max_filter, {.op = Op::maximum});
}
TEST(GswoExamples, Midpoint) {
  expect_built_in_with_borders(midpoint, {.op = Op::midpoint});
}
TEST(GswoExamples, Median) {
  expect_built_in_with_borders(median, {.op = Op::median});
}
TEST(GswoExamples, Mode) {
  expect_built_in_with_borders(mode, {.op = Op::mode});
}
TEST(GswoExamples, DirectionalMedian) {
  expect_built_in_with_borders(directional_median, {.op = Op::directional_median});
}
TEST(GswoExamples, AlphaTrimmedMean) {
  for (const double alpha : {0.0, 0.12, 0.25, 0.28, 0.5})
    expect_built_in_with_borders(
        [&](pixel **in, pixel **out, int width, int height, int window) {
          alpha_trimmed_mean(in, out, width, height, window, alpha);
        },
        {.op = Op::alpha_trimmed_mean, .alpha = alpha});
}

constexpr Size kWindows[] = {{1, 1}, {3, 3}, {5, 5}, {7, 7}, {7, 3}, {1, 5}, {9, 1}};

TEST(GswoExamples, ErosionAndDilation) {
  for (const bool erodes : {false, true})
    for (const Size window : kWindows)
      for (const Border border : {Border::replicate, Border::reflect, Border::constant})
        expect_built_in(
            [&](const Pixels &samples, Size size, pixel) {
              Rows<pixel> in(samples, size, std::max(window.width, window.height) / 2, border, 77);
              Rows<pixel> out(size);
              (erodes ? erosion : dilation)(in.get(), out.get(), size.width, size.height,
                                            window.width, window.height);
              return out.samples();
            },
            {.op = erodes ? Op::erode : Op::dilate,
             .window_width = window.width,
             .window_height = window.height,
             .border = border,
             .border_value = border == Border::constant ? 77 : 0});
}

TEST(GswoExamples, OpeningAndClosing) {
  for (const bool opens : {false, true})
    for (const Size window : kWindows)
      expect_built_in(
          [&](const Pixels &samples, Size size, pixel) {
            Pixels between(samples.size()), out(samples.size());
            (opens ? opening : closing)(samples.data(), between.data(), out.data(), size.width,
                                        size.height, window.width, window.height);
            return out;
          },
          {.op = opens ? Op::open : Op::close,
           .window_width = window.width,
           .window_height = window.height});
}

TEST(GswoExamples, MeanAndStandardDeviation) {
  for (const bool means : {false, true})
    for (const int window : {1, 3, 5, 7, 25})
      expect_built_in(
          [&](const Pixels &samples, Size size, pixel) {
            Pixels out(samples.size());
            (means ? mean : standard_deviation)(samples.data(), out.data(), size.width, size.height,
                                                window);
            return out;
          },
          {.op = means ? Op::mean : Op::standard_deviation, .window = window});
}

/// The same for an operator on black and white.
void expect_built_in_of_black_and_white(const Result &result, const SwoFilterParams &params) {
  for (const Size size : kSizes)
    for (const Content content : kContents) {
      SCOPED_TRACE(testing::Message()
                   << size.width << "x" << size.height << ", content " << static_cast<int>(content)
                   << ", operator " << static_cast<int>(params.op) << ", " << params.iterations
                   << " passes");
      const auto narrow = make_content<std::uint8_t>(content, size.width, size.height, 0xff);
      const Pixels samples = with_black(Pixels(narrow.begin(), narrow.end()), pixel{0xff});
      ASSERT_TRUE(same(built_in<std::uint8_t>(samples, size, params), result(samples, size, 0xff),
                       size.width));
      const auto wide = make_content<std::uint16_t>(content, size.width, size.height, 0xffff);
      ASSERT_TRUE(same(built_in<std::uint16_t>(with_black(wide, pixel{0xffff}), size, params),
                       result(with_black(wide, pixel{0xffff}), size, 0xffff), size.width));
    }
}

TEST(GswoExamples, HitOrMiss) {
  expect_built_in_of_black_and_white(
      [](const Pixels &samples, Size size, pixel most) {
        Pixels out(samples.size());
        hit_or_miss(samples.data(), out.data(), size.width, size.height, most);
        return out;
      },
      {.op = Op::hit_or_miss, .shape = "-00;110;-1-"});
}

TEST(GswoExamples, ThinningAndThickening) {
  for (const bool thins : {false, true})
    for (const int passes : {1, 2, 3, 40})
      expect_built_in_of_black_and_white(
          [&](const Pixels &samples, Size size, pixel most) {
            Rows<pixel> in(samples, size, 0, Border::clip, 0), a(size, 1), b(size, 1), out(size);
            (thins ? thinning : thickening)(in.get(), a.get(), b.get(), out.get(), size.width,
                                            size.height, passes, most);
            return out.samples();
          },
          {.op = thins ? Op::thin : Op::thicken, .iterations = passes == 40 ? 0 : passes});
}

/// The smallest n for which 2^n is at least the longer side.
int doublings_of(Size size) {
  int doublings = 0;
  while (1 << doublings < std::max(size.width, size.height)) ++doublings;
  return doublings;
}

TEST(GswoExamples, RecursiveErosionAndDilation) {
  for (const bool erodes : {false, true})
    for (const bool all_doublings : {false, true})
      for (const int window : {3, 5, 7, 15})
        expect_built_in(
            [&](const Pixels &samples, Size size, pixel) {
              Pixels a(samples.size()), b(samples.size()), out(samples.size());
              (erodes ? recursive_erosion : recursive_dilation)(
                  samples.data(), a.data(), b.data(), out.data(), size.width, size.height, window,
                  all_doublings ? 15 : doublings_of(size));
              return out;
            },
            {.op = erodes ? Op::recursive_erode : Op::recursive_dilate, .window = window});
}

/// In most contents, extrema fill the image at once. Here each extremum spreads as far as possible.
TEST(GswoExamples, RecursiveDilationOfFewPixels) {
  const Size size{90, 70};
  for (int place = 0; place < size.width * size.height; place += 61)
    for (const int window : {3, 7}) {
      Pixels samples(size.width * size.height);
      samples[place] = 9;
      samples[samples.size() - 1 - place / 2] = 5;
      Pixels a(samples.size()), b(samples.size()), out(samples.size());
      recursive_dilation(samples.data(), a.data(), b.data(), out.data(), size.width, size.height,
                         window, 7);
      ASSERT_TRUE(same(
          built_in<std::uint8_t>(samples, size, {.op = Op::recursive_dilate, .window = window}),
          out, size.width))
          << place << ", window " << window;
    }
}

TEST(GswoExamples, FingerprintOfAHotPixelIsThatPixel) {
  const Size size{11, 9};
  Pixels picture(size.width * size.height, 100), expected(picture.size(), 128);
  picture[4 * size.width + 3] = 130;
  expected[4 * size.width + 3] = 158;
  picture[0] = 90;
  expected[0] = 118;
  EXPECT_TRUE(same(fingerprint(picture, size, 4, 255), expected, size.width));
  // This difference exceeds the range around the gray in the middle.
  picture[4 * size.width + 3] = 255;
  expected[4 * size.width + 3] = 255;
  EXPECT_TRUE(same(fingerprint(picture, size, 4, 255), expected, size.width));
}

TEST(GswoExamples, FingerprintIsThePictureLessItsMedian) {
  for (const int regions : {1, 4, 7, 100}) {
    const auto with_most = [&](pixel most) {
      for (const Size size : kSizes) {
        auto samples = make_content<pixel>(Content::text, size.width, size.height, 0xffff);
        for (pixel &sample : samples) sample = static_cast<pixel>(sample / (0x10000 / (most + 1)));
        Pixels expected = built_in<std::uint16_t>(samples, size, {.border = Border::replicate});
        for (std::size_t i = 0; i < samples.size(); ++i)
          expected[i] = static_cast<pixel>(
              std::clamp((most + 1) / 2 + samples[i] - expected[i], 0, int{most}));
        ASSERT_TRUE(same(fingerprint(samples, size, regions, most), expected, size.width))
            << size.width << "x" << size.height << ", " << regions << " regions";
      }
    };
    with_most(0xff);
    with_most(0xffff);
  }
}

TEST(GswoExamples, SegmentationJoinsTheLettersOfALine) {
  // Gaps between letters have up to 2 columns, gaps between words 3.
  const std::vector<std::string> page = {"....................",  //
                                         "...##..#...##..##...",  //
                                         "...##..#...##..##...",  //
                                         "....................",  //
                                         "....................",  //
                                         "....................",  //
                                         "....................",  //
                                         "...#..#............."};
  const std::vector<std::string> words = {"....................",  //
                                          "...#####...######...",  //
                                          "...#####...######...",  //
                                          "....................",  //
                                          "....................",  //
                                          "....................",  //
                                          "....................",  //
                                          "...####............."};
  const std::vector<std::string> lines = {"....................",  //
                                          "...##############...",  //
                                          "...##############...",  //
                                          "....................",  //
                                          "....................",  //
                                          "....................",  //
                                          "....................",  //
                                          "...####............."};
  const auto drawn = [](const std::vector<std::string> &rows, pixel ink, pixel paper) {
    Pixels samples;
    for (const std::string &row : rows)
      for (const char c : row) samples.push_back(c == '#' ? ink : paper);
    return samples;
  };
  const Size size{20, 8};
  const Pixels samples = drawn(page, 60, 200);
  EXPECT_TRUE(same(segmented(samples, size, {3, 1}, 127, 255), drawn(words, 255, 0), size.width));
  EXPECT_TRUE(same(segmented(samples, size, {5, 1}, 127, 255), drawn(lines, 255, 0), size.width));
  EXPECT_TRUE(same(segmented(samples, size, {1, 1}, 60, 7), drawn(page, 7, 0), size.width));
  EXPECT_TRUE(same(segmented(samples, size, {3, 1}, 59, 255), Pixels(samples.size()), size.width));
}

TEST(GswoExamples, SegmentationIsAClosingOfInk) {
  for (const Size size : kSizes)
    for (const Content content : kContents)
      for (const Size window : {Size{1, 1}, Size{3, 3}, Size{9, 5}, Size{5, 21}}) {
        const auto page = make_content<std::uint8_t>(content, size.width, size.height, 0xff);
        Pixels ink;
        for (const auto sample : page) ink.push_back(sample <= 150 ? 255 : 0);
        const SwoFilterParams closes{
            .op = Op::close, .window_width = window.width, .window_height = window.height};
        ASSERT_TRUE(same(built_in<std::uint8_t>(ink, size, closes),
                         segmented({page.begin(), page.end()}, size, window, 150, 255), size.width))
            << size.width << "x" << size.height << ", content " << static_cast<int>(content)
            << ", window " << window.width << "x" << window.height;
      }
}

}  // namespace
}  // namespace cudascan::test
