// SPDX-License-Identifier: LGPL-2.1-or-later
// Known values and properties of binarization.
#include "kernels/binarize.h"

#include <cmath>
#include <limits>

#include "tests/kernels/binarize/pages.h"

namespace cudascan {
namespace {

using test::binarized;
using test::Image;
using test::Page;
using Gray8 = std::vector<std::uint8_t>;
using Gray16 = std::vector<std::uint16_t>;

constexpr auto kFast = BinarizeLevel::fast, kSized = BinarizeLevel::sized,
               kFull = BinarizeLevel::full;
constexpr auto kDarkness = BinarizeOutput::darkness;

/// Whether a rectangle is all ink, or has none.
bool is_ink(const Gray8 &samples, const Page &page, Rectangle r, bool ink = true) {
  for (int y = r.y; y < r.y + r.height; ++y)
    for (int x = r.x; x < r.x + r.width; ++x)
      if (samples[std::size_t(y) * page.width() + x] != (ink ? 0 : 255)) return false;
  return true;
}
bool is_paper(const Gray8 &samples, const Page &page, Rectangle r) {
  return is_ink(samples, page, r, false);
}

// ---- Known values ------------------------------------------------------------------------------

TEST(Binarize, FindsStrokes) {
  const Page page = Page(200, 120, 200).strokes(10, 10, 180, 100, 4, 40);
  Gray8 want;
  const auto in = page.image().samples();
  for (const auto level : in) want.push_back(level == 40 ? 0 : 255);
  for (const auto level : {kFast, kSized, kFull}) {
    const auto got = binarized(page, {.level = level});
    EXPECT_EQ(got.samples, want);
    const BinarizeReport &r = got.report;
    EXPECT_FALSE(r.blank);
    EXPECT_FALSE(r.inverted);
    // The darkness is 0 or 160 * 255 / 200 = 204. All thresholds between are equally good.
    EXPECT_EQ(r.threshold, 101.5 / 255);
    EXPECT_EQ(r.paper_deviation, 0);
    // Means over 4x4 pixels have 3 of the 4 columns of a stroke: (200 - 80) * 4095 / 200.
    EXPECT_EQ(r.confidence, 1 - 434. / 2457);
    EXPECT_EQ(r.ink_darkness, level == kFull ? 204. / 255 : 0);
    EXPECT_EQ(r.ink_ratio, std::count(want.begin(), want.end(), 0) / 24000.);
    // Of each of 45 strokes 5 rows are measured, and of the columns 96 to 127, which have 10
    // columns of strokes in 3 places. So 225 runs of 4 pixels and 30 of 20: 3.5 + 255 / (2 * 225),
    // in steps of 1/256.
    EXPECT_EQ(r.stroke_width, level == kFast ? 0 : 1041 / 256.);
  }
}

TEST(Binarize, Darkness) {
  const Page page = Page(60, 40, 200).fill(20, 10, 5, 15, 40).fill(40, 10, 5, 15, 150);
  const auto shown = binarized(page, {.level = kFast, .output = kDarkness}).samples;
  EXPECT_EQ(shown[0], 0);
  EXPECT_EQ(shown[15 * 60 + 22], 204);
  EXPECT_EQ(shown[15 * 60 + 42], 64);  // 63.75
  for (const std::uint16_t maximum : {0xffff, 0x3ff, 0xffc0}) {
    const auto deep = binarized<std::uint16_t>(page.image<std::uint16_t>(maximum, 2),
                                               {.level = kFast, .output = kDarkness}, maximum)
                          .samples;
    EXPECT_EQ(deep[0], 0);
    EXPECT_EQ(deep[15 * 60 + 22], (3276u * maximum + 2047) / 4095);
    EXPECT_EQ(deep[15 * 60 + 42], (1024u * maximum + 2047) / 4095);  // 1023.75
  }
}

TEST(Binarize, DarkPaperIsNotPaper) {
  // The weighted mean of the closing is near 200, so no paper is taken for darker than 100.
  Page page = Page(400, 300, 200).fill(0, 0, 100, 300, 40).fill(30, 100, 4, 40, 20);
  const auto shown = binarized(page, {.level = kFast, .output = kDarkness}).samples;
  const int paper = 20 * 255 / shown[120 * 400 + 31];
  EXPECT_GT(paper, 90);
  EXPECT_LT(paper, 100);
}

TEST(Binarize, PageWithoutInk) {
  for (const int level : {0, 1, 90, 255}) {
    const auto got = binarized(Page(70, 50, level));
    EXPECT_TRUE(got.report.blank);
    EXPECT_EQ(got.report.confidence, 1);
    EXPECT_EQ(got.samples, Gray8(70 * 50, 255));
  }
}

void expect_blank(const Page &page, const BinarizeParams &params = {}) {
  const auto got = binarized(page, params);
  EXPECT_TRUE(got.report.blank);
  EXPECT_FALSE(got.report.inverted);
  EXPECT_GT(got.report.confidence, 0);
  EXPECT_EQ(got.report.stroke_width, 0);
  EXPECT_EQ(got.report.ink_ratio, 0);
  EXPECT_TRUE(is_paper(got.samples, page, {0, 0, page.width(), page.height()}));
}

// Noise up to an eighth of the paper is no ink, and no reason to invert.
TEST(Binarize, BlankPages) {
  for (const int deviation : {1, 2, 4, 6, 10, 16, 24}) {
    SCOPED_TRACE(deviation);
    for (const auto level : {kFast, kSized, kFull})
      for (const double shade : {1., 0.4}) {
        const int darkest = static_cast<int>(200 * shade);
        if (8 * deviation > darkest) continue;
        expect_blank(Page(700, 500, 200).shade(shade).noise(deviation), {.level = level});
      }
    if (8 * deviation > 55) continue;
    expect_blank(Page(700, 500, 200).noise(deviation).invert());
    if (8 * deviation > 36) continue;
    expect_blank(Page(700, 500, 60).shade(0.6).noise(deviation));
  }
  // With more noise the page may have ink, but hardly any.
  for (const int deviation : {32, 40, 60}) {
    const auto got = binarized(Page(700, 500, 200).noise(deviation));
    EXPECT_FALSE(got.report.inverted);
    EXPECT_LT(got.report.ink_ratio, 0.0001);
  }
  // A fold, shadows at two edges and print that shines through.
  Page page(700, 500, 220);
  for (int y = 0; y < 500; ++y)
    for (int x = 0; x < 700; ++x) {
      const int fold = std::max(20 - std::abs(x - 350), 0);
      const int shadow = std::max(100 - x, 0) + std::max(y - 440, 0) / 2;
      page.fill(x, y, 1, 1, 220 - fold - shadow);
    }
  expect_blank(page.strokes(130, 50, 200, 300, 4, 208).noise(2));
}

TEST(Binarize, OneFaintLineIsInk) {
  const Rectangle line{300, 200, 60, 3};
  for (const int deviation : {0, 2, 4}) {
    Page page(700, 500, 200);
    page.fill(line.x, line.y, line.width, line.height, 150).noise(deviation);
    const auto got = binarized(page);
    EXPECT_FALSE(got.report.blank);
    EXPECT_TRUE(is_ink(got.samples, page, line));
    EXPECT_EQ(got.report.ink_ratio, 180 / 350000.);
    expect_blank(page, {.roi = {0, 0, 290, 500}});
  }
}

TEST(Binarize, DotsThatAreTooFewAreNoInk) {
  const auto page = [](int dots) {
    Page page(200, 150, 200);
    for (int i = 0; i < dots; ++i) page.fill(40 * i + 9, 61, 4, 4, 170);
    return page;
  };
  // Each dot fills a sample of the half, a detail of 30 * 4095 / 200, and half of those around.
  expect_blank(page(2));
  EXPECT_EQ(binarized(page(2)).report.confidence, 1 - 307. / 434);
  EXPECT_FALSE(binarized(page(3)).report.blank);
  EXPECT_EQ(binarized(page(3)).report.confidence, 1 - 434. / 614);
}

TEST(Binarize, LongRunsDoNotCount) {
  const auto width_of = [](int length) {
    Page page(300, 200, 200);
    for (int y = 20; y < 180; y += 20) page.fill(20, y, length, 4, 40);
    return binarized(page, {.level = kSized}).report.stroke_width;
  };
  // Of each line as many runs of 4 pixels as it is long, and 4 that are as long.
  EXPECT_EQ(width_of(254), 3.5 + std::floor(258. / 508 * 256) / 256);
  EXPECT_EQ(width_of(255), 4);
}

// What full does in addition: drops a pale dot, keeps headings and drops margins and shadows.
TEST(Binarize, WideDarkThings) {
  Page page = Page(700, 600, 210).strokes(150, 40, 500, 400, 4, 50);
  const Rectangle heading{202, 470, 160, 72}, margin{0, 0, 60, 600}, dot{100, 300, 1, 1};
  page.fill(heading.x, heading.y, heading.width, heading.height, 50)
      .fill(margin.x, margin.y, margin.width, margin.height, 20)
      .fill(dot.x, dot.y, 1, 1, 150);
  const Rectangle shadow{430, 440, 200, 140};
  for (int i = 0; i < 60; ++i)
    page.fill(shadow.x + i, shadow.y + i, shadow.width - 2 * i, shadow.height - 2 * i, 210 - 2 * i);
  const auto sized = binarized(page, {.level = kSized}).samples;
  EXPECT_FALSE(is_paper(sized, page, dot));
  EXPECT_TRUE(is_paper(sized, page, {260, 500, 40, 10}));
  const auto full = binarized(page).samples;
  EXPECT_TRUE(is_paper(full, page, dot));
  EXPECT_TRUE(is_ink(full, page, heading));
  EXPECT_TRUE(is_paper(full, page, {190, 460, 6, 90}));
  EXPECT_TRUE(is_paper(full, page, margin));
  EXPECT_TRUE(is_paper(full, page, shadow));
  EXPECT_TRUE(is_ink(full, page, {150, 40, 4, 20}));
}

TEST(Binarize, PalePrint) {
  // In a neighbourhood without dark print, pale print needs less darkness.
  Page page =
      Page(900, 300, 220).strokes(20, 20, 200, 260, 4, 20).strokes(680, 20, 200, 260, 4, 150);
  page.noise(2);
  const auto fast = binarized(page, {.level = kFast}), sized = binarized(page, {.level = kSized});
  EXPECT_FALSE(is_ink(fast.samples, page, {680, 20, 4, 20}));
  EXPECT_TRUE(is_ink(sized.samples, page, {680, 20, 4, 20}));
}

TEST(Binarize, DarknessAtTheEdgeCountsOnce) {
  const Page page = test::edge_page(), turned = page.transposed();
  const BinarizeParams sized{.level = kSized};
  EXPECT_TRUE(is_ink(binarized(page, sized).samples, page, {206, 10, 3, 20}));
  EXPECT_TRUE(is_ink(binarized(turned, sized).samples, turned, {10, 206, 20, 3}));
}

// ---- Properties --------------------------------------------------------------------------------

TEST(Binarize, TurnsWithTheImage) {
  // No paper is darker than its lower limit, which depends on the order of the erosions.
  const Page page = Page(230, 170, 220).strokes(15, 9, 200, 150, 3, 60).shade(0.7).noise(3);
  for (const auto level : {kFast, kSized, kFull})
    for (const auto output : {BinarizeOutput::binary, kDarkness}) {
      const auto got = binarized(page, {.level = level, .output = output});
      auto turned = binarized(page.transposed(), {.level = level, .output = output});
      // Other lines of it are measured.
      EXPECT_NEAR(turned.report.stroke_width, got.report.stroke_width, 0.1);
      turned.report.stroke_width = got.report.stroke_width;
      EXPECT_EQ(test::all_of(got.report), test::all_of(turned.report));
      for (int y = 0; y < 170; ++y)
        for (int x = 0; x < 230; ++x)
          ASSERT_EQ(got.samples[y * 230 + x], turned.samples[x * 170 + y]) << x << ", " << y;
    }
}

TEST(Binarize, LightInkIsDarkInkInverted) {
  // With multiples of 64 means are exact.
  Page page = Page(300, 200, 192).strokes(20, 10, 260, 180, 4, 64);
  page.fill(100, 60, 3, 60, 128);
  auto inverted = page;
  inverted.invert();
  for (const auto level : {kFast, kSized, kFull})
    for (const auto output : {BinarizeOutput::binary, kDarkness}) {
      const auto dark = binarized(page, {.level = level, .output = output});
      const auto light = binarized(inverted, {.level = level, .output = output});
      EXPECT_FALSE(dark.report.inverted);
      EXPECT_TRUE(light.report.inverted);
      EXPECT_EQ(dark.samples, light.samples);
      EXPECT_EQ(dark.report.threshold, light.report.threshold);
      const auto forced =
          binarized(inverted, {.level = level, .invert = BinarizeInvert::on, .output = output});
      EXPECT_EQ(light.samples, forced.samples);
      EXPECT_NE(
          light.samples,
          binarized(inverted, {.level = level, .invert = BinarizeInvert::off, .output = output})
              .samples);
    }
}

TEST(Binarize, PolarityOfABlock) {
  // The step is spread evenly over two samples of the quarter, so their sum is exact: of 32 columns
  // 14 that are light are as 28 of 64 samples. Light ink takes less than 5/11.
  const auto inverted = [](int light, int contrast) {
    const Page page = Page(32, 32, 40).fill(0, 0, light, 32, 40 + contrast);
    return binarized(page).report.inverted;
  };
  EXPECT_TRUE(inverted(14, 160));
  EXPECT_FALSE(inverted(15, 160));
  EXPECT_TRUE(inverted(14, 26));
  EXPECT_FALSE(inverted(14, 25));  // this is no contrast
  // Blocks begin at the corner of the image, whatever is measured.
  Page page(64, 32, 40);
  page.fill(0, 0, 12, 32, 200).fill(44, 0, 20, 32, 200);
  EXPECT_FALSE(binarized(page).report.inverted);
  EXPECT_TRUE(binarized(page, {.roi = {0, 0, 32, 32}}).report.inverted);
  EXPECT_FALSE(binarized(page, {.roi = {32, 0, 32, 32}}).report.inverted);
  EXPECT_FALSE(binarized(page, {.roi = {16, 0, 16, 32}}).report.inverted);
}

TEST(Binarize, BrightnessDoesNotMatter) {
  // With factors of 64 and more means are exact; divisions by powers of two are, too.
  const Page page = Page(230, 170, 120).strokes(15, 9, 200, 150, 3, 30).noise(3);
  for (const auto output : {BinarizeOutput::binary, kDarkness}) {
    const auto of = [&](int factor) {
      return binarized<std::uint16_t>(page.image<std::uint16_t>(0xffff, factor), {.output = output},
                                      0xffff)
          .samples;
    };
    const auto want = of(64);
    EXPECT_EQ(want, of(128));
    EXPECT_EQ(want, of(256));
  }
}

TEST(Binarize, DeepSamplesToBytes) {
  for (const std::uint16_t maximum : {0xffff, 0x3ff, 0xffc0}) {
    const auto in = test::rich_page().noise(3).image(maximum);
    const auto deep = binarized<std::uint16_t>(in, {}, maximum);
    const auto bytes = binarized<std::uint8_t>(in, {}, 255);
    EXPECT_EQ(test::all_of(deep.report), test::all_of(bytes.report));
    for (std::size_t i = 0; i < bytes.samples.size(); ++i)
      ASSERT_EQ(bytes.samples[i], deep.samples[i] ? 255 : 0);
  }
}

TEST(Binarize, ReportDoesNotDependOnThreads) {
  const auto in = Page(700, 600, 210).strokes(90, 40, 500, 500, 5, 50).noise(9).image();
  const auto one = binarized<std::uint8_t>(in, {}, 255, 1);
  for (const int threads : {2, 3, 7}) {
    const auto many = binarized<std::uint8_t>(in, {}, 255, threads);
    EXPECT_EQ(one.samples, many.samples);
    EXPECT_EQ(test::all_of(one.report), test::all_of(many.report));
  }
}

TEST(Binarize, MeasuresInThePartOnly) {
  Page page = Page(400, 200, 210).strokes(20, 20, 150, 160, 4, 50);
  const BinarizeParams left{.roi = {0, 0, 190, 200}};
  const auto alone = binarized(page, left);
  page.fill(220, 30, 9, 150, 130).fill(300, 30, 90, 150, 90);
  const auto both = binarized(page, left);
  EXPECT_EQ(alone.report.threshold, both.report.threshold);
  EXPECT_EQ(alone.report.stroke_width, both.report.stroke_width);
  EXPECT_NE(both.report.stroke_width, binarized(page).report.stroke_width);
  // What lies outside becomes ink all the same.
  EXPECT_TRUE(is_ink(both.samples, page, {222, 40, 5, 130}));
  EXPECT_EQ(binarized(page, {.roi = {0, 0, 400, 200}}).samples, binarized(page).samples);
  EXPECT_EQ(binarized(page, {.roi = {100, 0, 900, 900}}).samples,
            binarized(page, {.roi = {100, 0, 300, 200}}).samples);
}

// ---- Refusals ----------------------------------------------------------------------------------

TEST(Binarize, RefusesWhatMakesNoSense) {
  Cpu cpu;
  Image<std::uint8_t> in(4, 4), out(4, 4), other(5, 4);
  Image<std::uint16_t> deep(4, 4);
  const auto refusal = [&](const BinarizeParams &params, auto from, auto to) -> std::string {
    try {
      run(cpu, from, to, params);
    } catch (const BadSetting &e) {
      return e.what();
    }
    return "";
  };
  const auto of = [&](const BinarizeParams &params) {
    return refusal(params, Plane<const std::uint8_t>(in.plane()), out.plane());
  };
  EXPECT_EQ(of({}), "");
  EXPECT_EQ(of({.smoothing = 1}), "smoothing = 1: must be a number from 0 to 0.999");
  EXPECT_NE(of({.smoothing = std::numeric_limits<double>::quiet_NaN()}), "");
  EXPECT_EQ(of({.level = static_cast<BinarizeLevel>(3)}),
            "level = 3: no such level; must be from 0 to 2");
  EXPECT_NE(of({.invert = static_cast<BinarizeInvert>(-1)}).find("invert = -1"), std::string::npos);
  EXPECT_NE(of({.output = static_cast<BinarizeOutput>(2)}).find("output = 2"), std::string::npos);
  EXPECT_NE(of({.roi = {4, 0, 1, 1}}).find("outside the picture"), std::string::npos);
  EXPECT_NE(of({.roi = {-1, 0, 1, 1}}).find("roi = <-1, 0, 1, 1>"), std::string::npos);
  const Plane<const std::uint16_t> from = deep.plane();
  EXPECT_EQ(refusal({.output = kDarkness}, from, out.plane()),
            "output = darkness with an input of 16 and an output of 8 bits a sample: both must "
            "have the same; choose output = binary or such an output");
  EXPECT_EQ(refusal({}, from, out.plane()), "");
  EXPECT_NE(refusal({}, Plane<const std::uint8_t>(in.plane()), other.plane()).find("5x4"),
            std::string::npos);
}

}  // namespace
}  // namespace cudascan
