// SPDX-License-Identifier: LGPL-2.1-or-later
// How a threshold is applied to the picture, and which samples are counted. The methods that find a
// threshold in a histogram have their own tests.
#include "tests/kernels/autothreshold/result.h"

namespace cudascan {
namespace {

using test::Content;
using test::Gray16;
using test::Gray8;
using test::Image;
using test::kMethods;
using test::Method;
using test::otsu_by_hand;
using test::result;
using test::row;

// ---- The picture -----------------------------------------------------------------------------

template <typename T>
void expect_otsu_of_contents() {
  for (const Content content : test::kContents) {
    const auto samples = test::make_content<T>(content, 97, 61, std::numeric_limits<T>::max());
    const auto got = result<T>(Image<T>(samples, 97, 61), {});
    const int threshold = otsu_by_hand(samples);
    EXPECT_EQ(got.report.threshold, threshold) << "content " << static_cast<int>(content);
    for (std::size_t i = 0; i < samples.size(); ++i)
      ASSERT_EQ(got.samples[i], samples[i] > threshold ? std::numeric_limits<T>::max() : 0);
  }
}

TEST(Autothreshold, OtsuIsThatOfItsDefinition) {
  expect_otsu_of_contents<std::uint8_t>();
  expect_otsu_of_contents<std::uint16_t>();
}

TEST(Autothreshold, KnownValues) {
  const auto threshold = [](const Gray8 &samples, Method method) {
    return result(row(samples), {.method = method}).report.threshold;
  };
  const Gray8 two = {50, 50, 50, 200};
  EXPECT_EQ(threshold(two, Method::otsu), 50) << "the lowest of equally good thresholds";
  EXPECT_EQ(threshold(two, Method::isodata), 125);
  EXPECT_EQ(threshold(two, Method::mcet), 50);
  EXPECT_EQ(threshold({10, 20, 30, 200}, Method::mean), 65);
  // n (N - n) d^2 is 5 * 36 after 0, 8 * 6.75^2 = 364.5 after 1, 9 * 8^2 = 576 after 2.
  EXPECT_EQ(threshold({0, 1, 2, 8, 9, 10}, Method::otsu), 2);
}

TEST(Autothreshold, TheThresholdItselfIsBlack) {
  EXPECT_EQ(result(row(Gray8{50, 51, 200, 50}), {.offset = 0}).samples, Gray8({0, 0, 255, 0}));
  EXPECT_EQ(result(row(Gray8{50, 51, 200, 50}), {.invert = true}).samples,
            Gray8({255, 255, 0, 255}));
}

TEST(Autothreshold, ImagesOfOneLevelAreBlack) {
  for (const Method method : kMethods) {
    SCOPED_TRACE(static_cast<int>(method));
    for (const int level : {0, 1, 127, 254, 255})
      for (const int pixels : {1, 100}) {
        const auto got = result(row(Gray8(pixels, level)), {.method = method});
        EXPECT_EQ(got.samples, Gray8(pixels, 0));
        EXPECT_EQ(got.report.threshold, level);
        EXPECT_EQ(got.report.mean_below, level);
        EXPECT_EQ(got.report.mean_above, 0);
        EXPECT_EQ(got.report.separability, 0);
      }
    for (const int level : {0, 12345, 65535}) {
      const auto got = result<std::uint16_t>(row(Gray16(9, level)), {.method = method});
      EXPECT_EQ(got.samples, Gray16(9, 0));
      EXPECT_GE(got.report.threshold, level);
      EXPECT_LT(got.report.threshold, level + 256);
    }
  }
}

TEST(Autothreshold, TwoLevelsAreToldApart) {
  for (const Method method : kMethods) {
    SCOPED_TRACE(static_cast<int>(method));
    for (const auto &[dark, bright] : {std::pair{50, 200}, std::pair{0, 255}}) {
      Gray8 samples(100, dark), expected(100, 0);
      std::fill_n(samples.begin(), 50, bright);
      std::fill_n(expected.begin(), 50, 255);
      const auto got = result(row(samples), {.method = method});
      EXPECT_EQ(got.samples, expected) << got.report.threshold;
      EXPECT_EQ(got.report.mean_below, dark);
      EXPECT_EQ(got.report.mean_above, bright);
      EXPECT_EQ(got.report.separability, 1);
    }
  }
}

TEST(Autothreshold, NothingCountedIsAThresholdOfZero) {
  for (const Method method : kMethods) {
    SCOPED_TRACE(static_cast<int>(method));
    const auto got = result(row(Gray8{0, 255, 0, 255}),
                            {.method = method, .ignore_black = true, .ignore_white = true});
    EXPECT_EQ(got.report.threshold, 0);
    EXPECT_EQ(got.samples, Gray8({0, 255, 0, 255}));
    EXPECT_EQ(got.report.separability, 0);
  }
}

TEST(Autothreshold, LevelsLieWhereTheFormatPutsThem) {
  Gray16 low, high;
  Gray8 eight;
  for (const int level : {100, 120, 110, 900, 920, 100})
    low.push_back(level), high.push_back(level << 6);
  for (const Method method : kMethods) {
    SCOPED_TRACE(static_cast<int>(method));
    const auto a = result<std::uint16_t>(row(low, 1023), {.method = method}, 1023);
    const auto b = result<std::uint16_t>(row(high, 0xffc0), {.method = method}, 0xffc0);
    EXPECT_EQ(a.report.threshold, b.report.threshold);
    EXPECT_EQ(a.report.histogram, b.report.histogram);
    EXPECT_EQ(a.report.histogram.size(), 1024u);
    const int t = a.report.threshold;
    for (std::size_t i = 0; i < low.size(); ++i) {
      EXPECT_EQ(a.samples[i], low[i] > t ? 1023 : 0);
      EXPECT_EQ(b.samples[i], low[i] > t ? 0xffc0 : 0);
    }
    EXPECT_EQ(result<std::uint8_t>(row(low, 1023), {.method = method}).samples,
              result<std::uint8_t>(row(high, 0xffc0), {.method = method}).samples);
  }
}

TEST(Autothreshold, SamplesAboveTheLargestAreOfTheHighestLevel) {
  const auto got =
      result<std::uint16_t>(row(Gray16{10, 1023, 5000, 65535}, 1023), {.offset = 65535}, 1023);
  EXPECT_EQ(got.report.threshold, 1023);
  EXPECT_EQ(got.samples, Gray16({0, 0, 0, 0}));
  EXPECT_EQ(got.report.histogram[1023], 3u);
  EXPECT_EQ(result<std::uint16_t>(row(Gray16{0, 63, 64, 5000}, 0xffc0), {.offset = -65535}, 0xffc0)
                .samples,
            Gray16(4, 0xffc0))
      << "T must be -1";
}

TEST(Autothreshold, StepsOfLevelsWhereAMethodLooksAtFew) {
  for (const Method method :
       {Method::huang, Method::shanbhag, Method::minimum, Method::intermodes}) {
    const auto samples = test::make_content<std::uint16_t>(Content::text, 90, 70, 1023);
    const auto got = result<std::uint16_t>(Image<std::uint16_t>(samples, 90, 70, {}, 1023),
                                           {.method = method}, 1023);
    EXPECT_EQ(got.report.threshold % 4, 3) << "the last level of a step of four";
    Gray8 steps;
    for (const auto sample : samples) steps.push_back(sample / 4);
    EXPECT_EQ(got.report.threshold / 4,
              result(Image<std::uint8_t>(steps, 90, 70), {.method = method}).report.threshold);
  }
}

TEST(Autothreshold, ClassesArePaintedInEqualSteps) {
  const Gray8 samples = {0, 2, 1, 100, 102, 250, 252, 101};
  const auto three = result(row(samples), {.classes = 3});
  EXPECT_EQ(three.samples, Gray8({0, 0, 0, 128, 128, 255, 255, 128}));
  EXPECT_EQ(three.report.thresholds, std::vector<int>({2, 102}));
  EXPECT_EQ(three.report.threshold, 2);
  EXPECT_GT(three.report.separability, 0.99);
  EXPECT_EQ(result(row(samples), {.classes = 3, .invert = true}).samples,
            Gray8({255, 255, 255, 128, 128, 0, 0, 128}));
  const auto four = result(row(Gray8{0, 1, 80, 81, 160, 161, 240, 241}), {.classes = 4});
  EXPECT_EQ(four.samples, Gray8({0, 0, 85, 85, 170, 170, 255, 255}));
  EXPECT_EQ(four.report.thresholds, std::vector<int>({1, 81, 161}));
  const auto deep = result<std::uint8_t>(row(Gray16{0, 30000, 60000, 30001}), {.classes = 3});
  EXPECT_EQ(deep.samples, Gray8({0, 128, 255, 128}));
}

TEST(Autothreshold, ClassesThatOffsetsEmptyAreNotPainted) {
  const Gray8 samples = {0, 1, 100, 101, 250, 251};
  EXPECT_EQ(result(row(samples), {.classes = 3, .offset = -2}).samples,
            Gray8({128, 128, 255, 255, 255, 255}));
  EXPECT_EQ(result(row(samples), {.classes = 3, .offset = -300}).samples, Gray8(6, 255));
  EXPECT_EQ(result(row(samples), {.classes = 3, .offset = 300}).samples, Gray8(6, 0));
}

TEST(Autothreshold, OffsetMovesTheThresholdWithinTheLevels) {
  const Gray8 samples = {50, 60, 190, 200};
  for (const int offset : {-300, -51, -50, -10, 0, 5, 139, 140, 150, 300}) {
    const int t = std::clamp(60 + offset, -1, 255);
    const auto got = result(row(samples), {.offset = offset});
    EXPECT_EQ(got.report.threshold, t);
    EXPECT_EQ(got.report.thresholds, std::vector<int>({t}));
    for (std::size_t i = 0; i < samples.size(); ++i)
      EXPECT_EQ(got.samples[i], samples[i] > t ? 255 : 0) << offset;
  }
}

TEST(Autothreshold, WithoutApplyTheFrameIsCopied) {
  const auto samples = test::make_content<std::uint16_t>(Content::text, 60, 40, 1023);
  const Image<std::uint16_t> in(samples, 60, 40, {5, 0}, 1023);
  const auto measured = result<std::uint16_t>(in, {.apply = false}, 1023);
  EXPECT_EQ(measured.samples, samples);
  EXPECT_EQ(measured.report.threshold, result<std::uint16_t>(in, {}, 1023).report.threshold);
}

// ---- What is counted -------------------------------------------------------------------------

TEST(Autothreshold, ExtremesCanBeLeftOut) {
  // A black frame around dark and bright pixels, and white holes.
  Gray8 samples(1000, 0);
  std::fill_n(samples.begin(), 50, 60);
  std::fill_n(samples.begin() + 50, 50, 120);
  std::fill_n(samples.begin() + 100, 300, 255);
  EXPECT_EQ(result(row(samples), {}).report.threshold, 120);
  const auto got = result(row(samples), {.ignore_black = true, .ignore_white = true});
  EXPECT_EQ(got.report.threshold, 60);
  EXPECT_EQ(got.report.histogram[0], 0u);
  EXPECT_EQ(got.report.histogram[255], 0u);
  EXPECT_EQ(got.report.histogram[60], 50u);
  EXPECT_EQ(got.samples[0], 0);
  EXPECT_EQ(got.samples[50], 255);
  EXPECT_EQ(got.samples[999], 0) << "ignored samples are painted like the others";
  EXPECT_EQ(result(row(samples), {.ignore_black = true}).report.histogram[255], 300u);
  EXPECT_EQ(result(row(samples), {.ignore_white = true}).report.histogram[0], 600u);
}

TEST(Autothreshold, StatisticsAreFromTheRoi) {
  Gray8 samples(40 * 30, 250);
  for (int y = 10; y < 15; ++y)
    for (int x = 20; x < 30; ++x) samples[y * 40 + x] = x < 25 ? 10 : 90;
  const Image<std::uint8_t> in(samples, 40, 30);
  const auto got = result(in, {.roi = {20, 10, 10, 5}});
  EXPECT_EQ(got.report.threshold, 10);
  EXPECT_EQ(std::accumulate(got.report.histogram.begin(), got.report.histogram.end(), 0u), 50u);
  for (std::size_t i = 0; i < samples.size(); ++i)
    EXPECT_EQ(got.samples[i], samples[i] > 10 ? 255 : 0);
  EXPECT_EQ(result(in, {.roi = {25, 10, 100, 100}}).report.histogram[90], 25u)
      << "the region must be cut at the edge of the image";
  EXPECT_EQ(result(in, {.roi = {0, 0, 0, 0}}).report.threshold, result(in, {}).report.threshold);
}

TEST(Autothreshold, ReportOfAnUnevenFrame) {
  // Means 2 and 9 of 3 and 2 pixels: between 3 (2 - 4.8)^2 + 2 (9 - 4.8)^2 = 58.8, within 2 + 2.
  const auto got = result(row(Gray8{1, 2, 3, 8, 10}), {});
  EXPECT_EQ(got.report.threshold, 3);
  EXPECT_EQ(got.report.mean_below, 2);
  EXPECT_EQ(got.report.mean_above, 9);
  EXPECT_DOUBLE_EQ(got.report.separability, 58.8 / 62.8);
  EXPECT_EQ(got.report.histogram.size(), 256u);
  EXPECT_EQ(got.report.histogram[8], 1u);
}

}  // namespace
}  // namespace cudascan
