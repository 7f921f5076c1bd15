// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/equalize.h"

#include <numeric>

#include "kernels/equalize/mapping.h"
#include "tests/kernels/equalize/oracle.h"

namespace cudascan {
namespace {

using test::Content;
using test::equalized;
using test::Image;
using test::make_content;
using test::with_range;
using Gray8 = std::vector<std::uint8_t>;
using Gray16 = std::vector<std::uint16_t>;

constexpr auto kClahe = EqualizeMethod::clahe;
constexpr auto kCdf = EqualizeFormula::cdf;

// ---- Known values ------------------------------------------------------------------------------

TEST(EqualizeValues, Opencv) {
  // h = 1 2 1 1 at 10 20 30 40: (cdf - 1) 255 / 4 = 0, 127.5, 191.25, 255; halves to even
  const Image<std::uint8_t> in({10, 20, 20, 30, 40}, 5, 1);
  EXPECT_EQ(equalized(in, {}), (Gray8{0, 128, 128, 191, 255}));
}
TEST(EqualizeValues, OpencvRoundsHalvesToEvenAtEightBit) {
  // (cdf - 1) 255 / 6 = 42.5 n
  const Image<std::uint8_t> in({1, 2, 3, 4, 5, 6, 7}, 7, 1);
  EXPECT_EQ(equalized(in, {}), (Gray8{0, 42, 85, 128, 170, 212, 255}));
}
TEST(EqualizeValues, OpencvRoundsHalvesUpAtMore) {
  // (cdf - 1) 1023 / 2 = 511.5; (cdf - 1) 65535 / 6 = 10922.5 n
  const Image<std::uint16_t> ten({1, 2, 3}, 3, 1, {}, 1023);
  EXPECT_EQ(equalized(ten, {}), (Gray16{0, 512, 1023}));
  const Image<std::uint16_t> sixteen({1, 2, 3, 4, 5, 6, 7}, 7, 1);
  EXPECT_EQ(equalized(sixteen, {}), (Gray16{0, 10923, 21845, 32768, 43690, 54613, 65535}));
}
TEST(EqualizeValues, Cdf) {
  // cdf 255 / 5 = 51, 153, 204, 255; of three: 85, 170, 255; floor of cdf 65535 / 4
  EXPECT_EQ(equalized(Image<std::uint8_t>({10, 20, 20, 30, 40}, 5, 1), {.formula = kCdf}),
            (Gray8{51, 153, 153, 204, 255}));
  EXPECT_EQ(equalized(Image<std::uint16_t>({10, 20, 30, 40}, 4, 1), {.formula = kCdf}),
            (Gray16{16383, 32767, 49151, 65535}));
}
TEST(EqualizeValues, HighBits) {
  const Image<std::uint16_t> in({64, 128, 192}, 3, 1, {}, 0xffc0);
  EXPECT_EQ(equalized(in, {}), (Gray16{0, 512 << 6, 0xffc0}));
}
TEST(EqualizeValues, FrameOfOneLevel) {
  const Image<std::uint8_t> constant(Gray8(35, 77), 7, 5), pixel({200}, 1, 1);
  EXPECT_EQ(equalized(constant, {}), Gray8(35, 77));
  EXPECT_EQ(equalized(constant, {.formula = kCdf}), Gray8(35, 255));
  EXPECT_EQ(equalized(pixel, {}), Gray8{200});
  EXPECT_EQ(equalized(pixel, {.formula = kCdf}), Gray8{255});
}
TEST(EqualizeValues, FrameOfTwoLevels) {
  const Image<std::uint8_t> in({90, 91, 91, 91}, 2, 2);
  EXPECT_EQ(equalized(in, {}), (Gray8{0, 255, 255, 255}));
  EXPECT_EQ(equalized(in, {.formula = kCdf}), (Gray8{63, 255, 255, 255}));
}
TEST(EqualizeValues, AmountIsTheWeightOfTheResult) {
  const Image<std::uint8_t> in({10, 20, 20, 30, 40}, 5, 1);
  // halves up: (0 + 10) / 2, (128 + 20) / 2, (191 + 30) / 2 = 110.5, (255 + 40) / 2 = 147.5
  EXPECT_EQ(equalized(in, {.amount = 0.5}), (Gray8{5, 74, 74, 111, 148}));
}
TEST(EqualizeValues, LevelsOutsideOfTheRoi) {
  // Statistics of 20 20 30 40: below them 0, above them 255, between them as the level below.
  const Image<std::uint8_t> in({20, 20, 30, 40, 10, 25, 50, 255}, 4, 2);
  EXPECT_EQ(equalized(in, {.roi = {0, 0, 4, 1}}), (Gray8{0, 0, 128, 255, 0, 0, 255, 255}));
  // All samples have one level: nothing changes.
  EXPECT_EQ(equalized(in, {.roi = {0, 0, 2, 1}}), in.samples());
  EXPECT_EQ(equalized(in, {.roi = {2, 1, 100, 100}}),
            (Gray8{0, 0, 0, 0, 0, 0, 0, 255}));  // the roi has 50 and 255
}
TEST(EqualizeValues, ClaheOfOneTile) {
  // No limit: cdf 255 / 5, and 102 = 2 * 51.
  const Image<std::uint8_t> in({10, 20, 20, 30, 40}, 5, 1);
  EqualizeParams p{.method = kClahe, .clip_limit = 0, .tiles_x = 1, .tiles_y = 1};
  EXPECT_EQ(equalized(in, p), (Gray8{51, 153, 153, 204, 255}));
  // At most one pixel per bin: one of the two at 20 moves to bin 0, so cdf = 2 3 4 5.
  p.clip_limit = 1;
  EXPECT_EQ(equalized(in, p), (Gray8{102, 153, 153, 204, 255}));
}
TEST(EqualizeValues, ClaheBetweenTwoTiles) {
  // Tiles of two pixels: 7 8 and 7 7. 7 becomes 128 (127.5) in the first tile and 255 in the
  // second; 8 becomes 255. x = 0 is before the first centre, x = 1 has the mapping of the first
  // tile, x = 2 the mean of both: 191.5.
  const Image<std::uint8_t> in({7, 8, 7, 7}, 4, 1);
  EXPECT_EQ(equalized(in, {.method = kClahe, .clip_limit = 0, .tiles_x = 2, .tiles_y = 1}),
            (Gray8{128, 255, 192, 255}));
}

// ---- The oracle --------------------------------------------------------------------------------

constexpr test::Size kOracleSizes[] = {{1, 1}, {5, 3}, {64, 48}, {67, 31}, {1, 50}, {130, 2}};

/// Calls check(plane) for many contents in all formats and nominal ranges.
template <typename Check>
void for_each_plane(const Check &check) {
  const auto of_format = [&]<typename T>(T maximum, unsigned black, unsigned white) {
    for (const auto [width, height] : kOracleSizes)
      for (const Content content : test::kContents) {
        SCOPED_TRACE(testing::Message()
                     << "maximum " << +maximum << ", black " << black << ", " << width << "x"
                     << height << ", content " << static_cast<int>(content));
        const Image<T> image(make_content(content, width, height, maximum), width, height, {},
                             maximum);
        check(with_range(image.plane(), black, white));
        if (testing::Test::HasFatalFailure()) return;
      }
  };
  of_format(std::uint8_t{255}, 0, 255);
  of_format(std::uint8_t{255}, 16, 235);
  of_format(std::uint16_t{1023}, 0, 1023);
  of_format(std::uint16_t{1023}, 64, 940);
  of_format(std::uint16_t{0xffc0}, 64 << 6, 940 << 6);
  of_format(std::uint16_t{0xffff}, 0, 0xffff);
  of_format(std::uint16_t{0xffff}, 16 << 8, 235 << 8);
}

TEST(EqualizeOracle, Global) {
  for (const EqualizeParams &params :
       {EqualizeParams{}, EqualizeParams{.formula = kCdf}, EqualizeParams{.amount = 0.25},
        EqualizeParams{.roi = {0, 0, 20, 9}},
        EqualizeParams{.formula = kCdf, .roi = {0, 1, 9, 1}}}) {
    SCOPED_TRACE(testing::Message() << params);
    for_each_plane([&]<typename T>(Plane<T> plane) {
      if (params.roi.y >= plane.height) return;
      ASSERT_TRUE(
          test::same(test::oracle_global(Plane<const std::remove_const_t<T>>(plane), params),
                     equalized(plane, params), plane.width));
    });
  }
}

TEST(EqualizeOracle, Clahe) {
  std::size_t pixels = 0, other = 0;
  for (const EqualizeParams &params :
       {EqualizeParams{.method = kClahe, .clip_limit = 2, .tiles_x = 2, .tiles_y = 3},
        EqualizeParams{.method = kClahe, .clip_limit = 40, .tiles_x = 4, .tiles_y = 1},
        EqualizeParams{.method = kClahe, .clip_limit = 0, .tiles_x = 3, .tiles_y = 2},
        EqualizeParams{
            .method = kClahe, .clip_limit = 1.5, .tiles_x = 1, .tiles_y = 2, .amount = 0.5}}) {
    SCOPED_TRACE(testing::Message() << params);
    for_each_plane([&]<typename T>(Plane<T> plane) {
      const auto expected = test::oracle_clahe(plane, params), got = equalized(plane, params);
      // The difference may be one level. At 16 bits it may be two, as single precision also changes
      // the mappings of tiles.
      const int step = plane.maximum == 0xffff ? 2 : 1 << std::countr_zero(plane.maximum);
      for (std::size_t i = 0; i < got.size(); ++i) {
        ASSERT_NEAR(expected[i], got[i], step) << "at " << i;
        other += expected[i] != got[i];
      }
      pixels += got.size();
    });
  }
  EXPECT_LT(other, pixels / 20);
}

TEST(EqualizeOracle, CountsAreClippedByTheRuleForOneBin) {
  using namespace equalize;
  std::mt19937 random(1);
  for (int turn = 0; turn < 200; ++turn) {
    const int width = 1 + random() % 60, height = 1 + random() % 60;
    const double limit = random() % 400 / 100.0;
    const auto samples =
        make_content<std::uint8_t>(test::kContents[turn % 9], width, height, 255, turn);
    std::vector<int> counts(256);
    for (const auto sample : samples) ++counts[sample];
    const int n = width * height, most = clip_limit(limit, n, 256);
    int clipped = 0, sum = 0;
    for (const int count : counts) clipped += std::max(count - most, 0);
    const ClippedShare share = share_out(clipped, 256);
    Gray8 mapping;
    for (int i = 0; i < 256; ++i) {
      sum += clipped_count(counts[i], i, most, share);
      mapping.push_back(static_cast<std::uint8_t>(tile_map(sum, tile_scale(256, n), 256)));
    }
    EXPECT_EQ(sum, n);
    Gray8 expected;
    for (const auto sample : samples) expected.push_back(mapping[sample]);
    const EqualizeParams params{.method = kClahe, .clip_limit = limit, .tiles_x = 1, .tiles_y = 1};
    ASSERT_TRUE(test::same(expected, equalized(Image<std::uint8_t>(samples, width, height), params),
                           width));
  }
}

// ---- Ranges ------------------------------------------------------------------------------------

TEST(EqualizeRange, ResultsStayBetweenBlackAndWhite) {
  for (const EqualizeParams &params :
       {EqualizeParams{}, EqualizeParams{.formula = kCdf}, EqualizeParams{.amount = 0.01},
        EqualizeParams{.method = kClahe, .clip_limit = 3}}) {
    SCOPED_TRACE(testing::Message() << params);
    for_each_plane([&]<typename T>(Plane<T> plane) {
      for (const auto sample : equalized(plane, params)) {
        ASSERT_GE(sample, plane.black);
        ASSERT_LE(sample, plane.white);
      }
    });
  }
}
TEST(EqualizeRange, SamplesBeyondCountAsBlackAndWhite) {
  // the result for 16 16 100 235 235
  const Image<std::uint8_t> in({0, 16, 100, 235, 255}, 5, 1);
  // 16 + (cdf - 2) 219 / 3
  EXPECT_EQ(equalized(with_range(in.plane(), 16, 235), {}), (Gray8{16, 16, 89, 235, 235}));
  // 16 + cdf 219 / 5
  EXPECT_EQ(equalized(with_range(in.plane(), 16, 235), {.formula = kCdf}),
            (Gray8{103, 103, 147, 235, 235}));
}
TEST(EqualizeRange, SamplesAboveTheFormatCountAsWhite) {
  const Image<std::uint16_t> in({5, 1023, 0xffff}, 3, 1, {}, 1023);
  EXPECT_EQ(equalized(in, {}), (Gray16{0, 1023, 1023}));
}
TEST(EqualizeRange, AmountOfZeroCopies) {
  for (const auto method : {EqualizeMethod::global, kClahe})
    for_each_plane([&]<typename T>(Plane<T> plane) {
      const auto got = equalized(plane, {.method = method, .amount = 0});
      for (int y = 0; y < plane.height; ++y)
        ASSERT_TRUE(std::equal(plane.row(y), plane.row(y) + plane.width,
                               got.begin() + std::size_t(y) * plane.width));
    });
}

// ---- Report ------------------------------------------------------------------------------------

TEST(EqualizeReport, TellsAboutTheInput) {
  const Image<std::uint8_t> in({10, 20, 20, 30, 40, 250}, 3, 2);
  for (const EqualizeParams &params :
       {EqualizeParams{}, EqualizeParams{.method = kClahe}, EqualizeParams{.amount = 0},
        EqualizeParams{.formula = kCdf, .algorithm = EqualizeAlgorithm::naive}}) {
    SCOPED_TRACE(testing::Message() << params);
    EqualizeReport report;
    equalized(with_range(in.plane(), 0, 255), params, &report);
    ASSERT_EQ(report.histogram.size(), 256u);
    EXPECT_EQ(report.histogram[20], 2u);
    EXPECT_EQ(std::accumulate(report.histogram.begin(), report.histogram.end(), 0u), 6u);
    EXPECT_EQ(report.minimum, 10);
    EXPECT_EQ(report.maximum, 250);
    EXPECT_DOUBLE_EQ(report.mean, 370 / 6.0);
  }
  EqualizeReport report;
  equalized(in.plane(), {.roi = {1, 0, 2, 1}}, &report);
  EXPECT_EQ(report.minimum, 20);
  EXPECT_EQ(report.maximum, 20);
  EXPECT_EQ(report.mean, 20);
  // All levels of the format, including those beyond black and white.
  equalized(with_range(in.plane(), 16, 235), {}, &report);
  EXPECT_EQ(report.minimum, 10);
  EXPECT_EQ(report.maximum, 250);
  const Image<std::uint16_t> deep({64, 128, 192, 0xffc0}, 4, 1, {}, 0xffc0);
  equalized(deep.plane(), {}, &report);
  EXPECT_EQ(report.histogram.size(), 1024u);
  EXPECT_EQ(report.minimum, 1);
  EXPECT_EQ(report.maximum, 1023);
  EXPECT_EQ(report.mean, 1029 / 4.0);
}

// ---- Refusals ----------------------------------------------------------------------------------

template <typename T>
std::string refusal(const EqualizeParams &params, T maximum = std::numeric_limits<T>::max(),
                    unsigned black = 0, unsigned white = std::numeric_limits<T>::max()) {
  const Image<T> in(20, 10, {}, maximum);
  try {
    equalized(with_range(in.plane(), black, white), params);
  } catch (const BadSetting &e) {
    return e.what();
  }
  return "accepted";
}

TEST(EqualizeRefuses, NamesTheSettingAndTheRemedy) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr auto kNaive = EqualizeAlgorithm::naive, kShared = EqualizeAlgorithm::shared;
  const struct {
    EqualizeParams params;
    const char *begin, *remedy;
  } cases[] = {
      {{.clip_limit = -1}, "clip-limit = -1: ", "0 to 1000000"},
      {{.clip_limit = kNan}, "clip-limit = nan: ", "0 to 1000000"},
      {{.clip_limit = 1e7}, "clip-limit = 1e+07: ", "0 to 1000000"},
      {{.tiles_x = 0}, "tiles-x = 0: ", "1 to 64"},
      {{.tiles_y = 65}, "tiles-y = 65: ", "1 to 64"},
      {{.amount = 1.5}, "amount = 1.5: ", "0 to 1"},
      {{.amount = kNan}, "amount = nan: ", "0 to 1"},
      {{.smoothing = 1}, "smoothing = 1: ", "0 to 0.999"},
      {{.smoothing = -0.1}, "smoothing = -0.1: ", "0 to 0.999"},
      {{.roi = {-1, 0, 5, 5}}, "roi = <-1, 0, 5, 5>: ", "0 or more"},
      {{.roi = {0, 0, -5, 5}}, "roi = <0, 0, -5, 5>: ", "0 or more"},
      {{.roi = {20, 0, 5, 5}}, "roi = <20, 0, 5, 5>: ", "20x10"},
      {{.roi = {0, 10, 5, 5}}, "roi = <0, 10, 5, 5>: ", "20x10"},
      {{.method = kClahe, .formula = kCdf}, "formula = cdf with method = clahe", "global"},
      {{.method = kClahe, .smoothing = 0.5}, "smoothing = 0.5 with method = clahe", "global"},
      {{.method = kClahe, .roi = {0, 0, 5, 5}}, "roi with method = clahe", "global"},
      {{.algorithm = kNaive}, "algorithm = naive with formula = opencv", "formula = cdf"},
      {{.method = kClahe, .algorithm = kShared},
       "algorithm = shared with method = clahe",
       "method = global"},
      {{.formula = kCdf, .roi = {0, 0, 5, 5}, .algorithm = kShared},
       "algorithm = shared with roi",
       "no roi"},
      {{.formula = kCdf, .smoothing = 0.5, .algorithm = kShared},
       "algorithm = shared with smoothing = 0.5",
       "smoothing = 0"},
      {{.formula = kCdf, .amount = 0.5, .algorithm = kShared},
       "algorithm = shared with amount = 0.5",
       "amount = 1"},
      {{.method = EqualizeMethod{7}}, "method = 7", "no such"},
      {{.formula = EqualizeFormula{7}}, "formula = 7", "no such"},
      {{.algorithm = EqualizeAlgorithm{7}}, "algorithm = 7", "no such"},
  };
  for (const auto &c : cases) {
    const std::string message = refusal<std::uint8_t>(c.params);
    EXPECT_TRUE(message.starts_with(c.begin)) << message;
    EXPECT_NE(message.find(c.remedy), std::string::npos) << message;
  }
  const EqualizeParams naive{.formula = kCdf, .algorithm = kNaive};
  EXPECT_EQ(refusal<std::uint8_t>(naive), "accepted");
  EXPECT_NE(refusal<std::uint16_t>(naive).find("8-bit"), std::string::npos);
  EXPECT_NE(refusal<std::uint8_t>(naive, 255, 16, 235).find("16 to 235"), std::string::npos);
  EXPECT_NE(refusal<std::uint8_t>({}, 255, 235, 16).find("black must"), std::string::npos);
  EXPECT_NE(refusal<std::uint16_t>({}, 1023, 0, 1024).find("white above"), std::string::npos);
  EXPECT_EQ(refusal<std::uint8_t>({.roi = {100, 100, 0, 0}}), "accepted");
}
TEST(EqualizeRefuses, PlanesOfDifferentSizes) {
  const Image<std::uint8_t> in(20, 10);
  Image<std::uint8_t> out(20, 11);
  Cpu cpu;
  EXPECT_THROW(run(cpu, in.plane(), out.plane(), EqualizeParams{}), BadSetting);
}

}  // namespace
}  // namespace cudascan
