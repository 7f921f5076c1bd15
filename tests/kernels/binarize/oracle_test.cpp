// SPDX-License-Identifier: LGPL-2.1-or-later
// Binarization compared with its definition.
#include "tests/kernels/binarize/pages.h"

namespace cudascan {
namespace {

using test::binarized;
using test::Content;
using test::Image;
using test::Page;

constexpr auto kFast = BinarizeLevel::fast, kSized = BinarizeLevel::sized;
constexpr auto kDarkness = BinarizeOutput::darkness;

template <typename T>
void expect_oracle(const Image<T> &in, const BinarizeParams &params) {
  const T maximum = in.plane().maximum;
  SCOPED_TRACE(testing::Message() << params << ", maximum " << +maximum << ", " << in.width() << "x"
                                  << in.height());
  const test::Binarized want = test::BinarizeOracle(in, params).result();
  const auto got = binarized<T>(in, params, maximum, 3);
  std::vector<T> samples;
  for (std::size_t i = 0; i < want.ink.cells.size(); ++i) {
    const int d = want.darkness.cells[i];
    if (params.output == kDarkness)
      samples.push_back(static_cast<T>(sizeof(T) == 1 ? d : (d * maximum + 2047u) / 4095));
    else
      samples.push_back(want.ink.cells[i] ? 0 : maximum);
  }
  ASSERT_TRUE(test::same(samples, got.samples, in.width()));
  ASSERT_EQ(test::all_of(want.report), test::all_of(got.report));
}

/// All levels and polarities, and some parts.
template <typename T>
void expect_oracle_everywhere(const Image<T> &in) {
  for (const auto level : {kFast, kSized, BinarizeLevel::full})
    for (const auto invert : {BinarizeInvert::automatic, BinarizeInvert::on, BinarizeInvert::off})
      expect_oracle(in, {.level = level, .invert = invert});
  expect_oracle(in, {.output = kDarkness});
  expect_oracle(in, {.level = kFast, .output = kDarkness});
  const int w = in.width(), h = in.height();
  expect_oracle(in, {.roi = {w / 2, h / 3, w, h / 2 + 1}});
  expect_oracle(in, {.roi = {w - 1, h - 1, 1, 1}});
}

template <typename T>
void expect_oracle_for_pages(T maximum) {
  expect_oracle_everywhere(test::rich_page().image(maximum));
  expect_oracle_everywhere(test::rich_page().noise(4).image(maximum));
  expect_oracle_everywhere(test::rich_page().noise(2).invert().image(maximum));
  expect_oracle_everywhere(test::rich_page().transposed().shade(0.3).image(maximum));
  expect_oracle_everywhere(Page(90, 61, 200).noise(5).image(maximum));
  expect_oracle_everywhere(test::edge_page().image(maximum));
  expect_oracle_everywhere(test::edge_page().transposed().image(maximum));
  Page line(170, 110, 200);
  expect_oracle_everywhere(line.fill(30, 40, 90, 3, 160).shade(0.8).noise(6).image(maximum));
}

TEST(BinarizeOracle, Pages8Bit) {
  expect_oracle_for_pages<std::uint8_t>(0xff);
}
TEST(BinarizeOracle, Pages16Bit) {
  expect_oracle_for_pages<std::uint16_t>(0xffff);
}
TEST(BinarizeOracle, Pages10Bit) {
  expect_oracle_for_pages<std::uint16_t>(0x3ff);
  expect_oracle_everywhere(test::rich_page().noise(3).image<std::uint16_t>(0xffc0));
}

template <typename T>
void expect_oracle_for_contents(T maximum) {
  for (const auto [width, height] :
       {test::Size{1, 1}, {2, 3}, {37, 1}, {1, 41}, {33, 17}, {5, 70}, {65, 40}, {130, 62}})
    for (const Content content : test::kContents)
      expect_oracle_everywhere(Image<T>(test::make_content<T>(content, width, height, maximum),
                                        width, height, {}, maximum));
}

TEST(BinarizeOracle, Contents8Bit) {
  expect_oracle_for_contents<std::uint8_t>(0xff);
}
TEST(BinarizeOracle, Contents16Bit) {
  expect_oracle_for_contents<std::uint16_t>(0xffff);
  expect_oracle_for_contents<std::uint16_t>(0xfff0);
}

// Strokes of all widths, up to windows that are limited.
TEST(BinarizeOracle, Strokes) {
  for (const int stroke : {1, 2, 5, 9, 14, 22, 40}) {
    Page page(260, 130, 220);
    for (int x = 7; x + stroke < 260; x += 3 * stroke + 2) page.fill(x, 9, stroke, 105, 30);
    expect_oracle(page.noise(2).image(), {});
    expect_oracle(page.image<std::uint16_t>(0xffff), {});
  }
}

// Samples above the largest of the format.
TEST(BinarizeOracle, SamplesBeyondTheFormat) {
  const auto samples = test::make_content<std::uint16_t>(Content::text, 150, 90, 0x7ff);
  expect_oracle_everywhere(Image<std::uint16_t>(samples, 150, 90, {}, 0x3ff));
}

}  // namespace
}  // namespace cudascan
