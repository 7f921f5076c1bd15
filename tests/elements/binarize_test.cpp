// SPDX-License-Identifier: LGPL-2.1-or-later
// cudabinarize: its settings, white on black, blank pages, levels carried from frame to frame, and
// the report.
#include <algorithm>

#include "tests/elements/operators.h"

namespace cudascan::elements {
namespace {

using Params = BinarizeParams;
using Level = BinarizeLevel;
using Invert = BinarizeInvert;
using Output = BinarizeOutput;

class Binarize : public BackendTest {
 protected:
  std::string element(const std::string &settings = "") const {
    return launch("cudabinarize", settings);
  }
};
INSTANTIATE_BACKENDS(Binarize);

constexpr GstVideoFormat kGray = GST_VIDEO_FORMAT_GRAY8;

/// Upright and level strokes of three pixels on paper that gets a little lighter to the right, as
/// shares of the largest sample.
Picture page(GstVideoFormat format, double ink, double paper, bool blank = false) {
  Picture p = make_picture(format, 120, 90);
  const int shift = p.format_info()->shift[0];
  const double top = (1 << p.format_info()->depth[0]) - 1;
  for (int y = 0; y < p.height; ++y)
    for (int x = 0; x < p.width; ++x) {
      const bool inside = x >= 10 && x < 110 && y >= 10 && y < 80;
      const bool stroke = !blank && inside && (x % 20 < 3 || y % 30 < 3);
      const auto sample = static_cast<unsigned>(((stroke ? ink : paper) + x * 0.0002) * top);
      p.components[0][static_cast<std::size_t>(y) * p.width + x] =
          static_cast<std::uint16_t>(sample << shift);
    }
  return p;
}
Picture blank_page(GstVideoFormat format) {
  return page(format, 0, 0.8, true);
}

TEST(BinarizeDefaults, AreThoseOfTheParameters) {
  Filter filter("cudabinarize");
  EXPECT_EQ(Params{}.level, Level::full);
  const std::pair<const char *, std::string> values[] = {{"level", "full"},
                                                         {"invert", "auto"},
                                                         {"output", "binary"},
                                                         {"smoothing", "0"},
                                                         {"roi", "<  >"}};
  for (const auto &[name, value] : values) EXPECT_EQ(filter.get_string(name), value) << name;
}

TEST_P(Binarize, EveryFormatIsBlackAndWhite) {
  expect_kernels_result(element(), Case<Params>{"", {}});
  expect_kernels_result(element(), Case<Params>{"level=sized", {.level = Level::sized}}, true);
  expect_kernels_result(element(), Case<Params>{"level=fast", {.level = Level::fast}}, true);
}

TEST_P(Binarize, DarknessKeepsColourAndDepth) {
  const Case<Params> darkness{"output=darkness", {.output = Output::darkness}};
  expect_kernels_result(element(), darkness);
  for (const GstVideoFormat format : {GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_P010_10LE}) {
    SCOPED_TRACE(gst_video_format_to_string(format));
    Filter filter(element("output=darkness"));
    const Picture in = page(format, 0.2, 0.8), out = filter.process(in);
    EXPECT_EQ(out.format, format);
    for (std::size_t c = 1; c < in.components.size(); ++c)
      EXPECT_EQ(out.components[c], in.components[c]);
    const auto &luma = out.components[0];
    EXPECT_GT(*std::max_element(luma.begin(), luma.end()), out.maximum() / 2);
    EXPECT_LT(*std::max_element(luma.begin(), luma.end()), out.maximum());
  }
  Filter gray8(element("output=darkness"), "video/x-raw, format=GRAY8");
  EXPECT_NE(gray8.push_picture(make_picture(GST_VIDEO_FORMAT_GRAY16_LE, 20, 10)), GST_FLOW_OK);
}

TEST_P(Binarize, SettingsCount) {
  expect_settings_to_count<Params>(
      element(),
      {{"level=fast", {.level = Level::fast}},
       {"level=sized", {.level = Level::sized}},
       {"invert=on", {.invert = Invert::on}},
       {"invert=off", {.invert = Invert::off}},
       {"output=darkness level=fast", {.level = Level::fast, .output = Output::darkness}},
       {"roi=<10,20,30,15>", {.roi = {10, 20, 30, 15}}},
       {"roi=\"< (int)1, 2, 300, 300 >\"", {.roi = {1, 2, 300, 300}}},
       {"n-threads=3", {}}});
}

TEST_P(Binarize, ChangesTakeEffectWithTheNextFrame) {
  expect_changes_to_count<Params>(
      element(), {{"level", "fast", [](Params &p) { p.level = Level::fast; }},
                  {"invert", "on", [](Params &p) { p.invert = Invert::on; }},
                  {"invert", "auto", [](Params &p) { p.invert = Invert::automatic; }},
                  {"roi", "<5,6,40,30>",
                   [](Params &p) {
                     p.roi = {5, 6, 40, 30};
                   }},
                  {"output", "darkness", [](Params &p) { p.output = Output::darkness; }},
                  {"level", "full", [](Params &p) { p.level = Level::full; }},
                  {"roi", "<>", [](Params &p) { p.roi = {}; }},
                  {"output", "binary", [](Params &p) { p.output = Output::binary; }}});
}

TEST_P(Binarize, SettingsThatMakeNoSense) {
  expect_refusals(element(), {{{{"smoothing", "1"}}, {"smoothing = 1", "0 to 0.999"}},
                              {{{"smoothing", "-0.1"}}, {"smoothing = -0.1", "0.999"}},
                              {{{"smoothing", "nan"}}, {"smoothing = nan", "0.999"}},
                              {{{"roi", "<1,2,3>"}}, {"roi = <1, 2, 3>", "four integers"}},
                              {{{"roi", "<90,0,5,5>"}}, {"roi = <90, 0, 5, 5>", "90x60"}}});
}

// ---- Pages -----------------------------------------------------------------------------------

TEST_P(Binarize, WhiteOnBlackBecomesBlackOnWhite) {
  for (const GstVideoFormat format : {kGray, GST_VIDEO_FORMAT_P010_10LE}) {
    SCOPED_TRACE(gst_video_format_to_string(format));
    const Picture light = page(format, 0.9, 0.2), dark = page(format, 0.2, 0.9);
    Filter automatic(element()), on(element("invert=on")), off(element("invert=off"));
    const Picture wanted = automatic.process(dark);
    EXPECT_GT(wanted.black_ratio(), 0.1);
    EXPECT_LT(wanted.black_ratio(), 0.3);
    const Picture recognised = automatic.process(light);
    EXPECT_NEAR(recognised.black_ratio(), wanted.black_ratio(), 0.02);
    EXPECT_TRUE(same(on.process(light), recognised));
    EXPECT_TRUE(same(off.process(dark), wanted));
    EXPECT_FALSE(same(off.process(light), recognised));
    EXPECT_FALSE(same(on.process(dark), wanted));
  }
}

TEST_P(Binarize, ABlankPageStaysWhite) {
  for (const char *level : {"fast", "sized", "full"})
    for (const GstVideoFormat format : {kGray, GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_GRAY16_LE}) {
      SCOPED_TRACE(std::string(level) + " " + gst_video_format_to_string(format));
      Filter filter(element(std::string("level=") + level));
      EXPECT_EQ(filter.process(blank_page(format)).black_ratio(), 0);
      EXPECT_EQ(filter.process(flat(format, 0)).black_ratio(), 0);
    }
}

TEST_P(Binarize, TheRegionOfInterestMeasuresAndTheWholeFrameIsBinarized) {
  // The strokes on the right are pale next to those on the left.
  Picture in = page(kGray, 0.1, 0.9);
  const Picture pale = page(kGray, 0.8, 0.9);
  for (int y = 0; y < in.height; ++y)
    for (int x = 60; x < in.width; ++x)
      in.components[0][static_cast<std::size_t>(y) * in.width + x] =
          pale.components[0][static_cast<std::size_t>(y) * in.width + x];
  Filter left(element("level=fast roi=<0,0,60,90>")), right(element("level=fast roi=<60,0,60,90>"));
  const Params of_left{.level = Level::fast, .roi = {0, 0, 60, 90}},
      of_right{.level = Level::fast, .roi = {60, 0, 60, 90}};
  const Picture by_left = left.process(in), by_right = right.process(in);
  EXPECT_TRUE(same(by_left, expected(in, of_left)));
  EXPECT_TRUE(same(by_right, expected(in, of_right)));
  EXPECT_GT(by_right.black_ratio(), by_left.black_ratio());
}

// ---- From frame to frame -----------------------------------------------------------------------

TEST_P(Binarize, SmoothingCarriesLevelsUntilAFlush) {
  for (const auto &[name, level] : {std::pair{"fast", Level::fast}, {"full", Level::full}}) {
    SCOPED_TRACE(name);
    const Params params{.level = level, .output = Output::darkness, .smoothing = 0.9};
    Filter filter(
        element("output=darkness smoothing=0.9 report=message level=" + std::string(name)));
    Cpu cpu;
    const auto threshold = [&](const Picture &in, Cpu *history) {
      BinarizeReport measured;
      EXPECT_TRUE(same(filter.process(in),
                       expected(in, params, GST_VIDEO_FORMAT_UNKNOWN, &measured, history)));
      Ref<GstMessage> message = filter.pop(GST_MESSAGE_ELEMENT);
      double reported = -1;
      EXPECT_TRUE(message && gst_structure_get_double(gst_message_get_structure(message.get()),
                                                      "threshold", &reported));
      EXPECT_EQ(reported, measured.threshold);
      return reported;
    };
    const Picture strong = page(kGray, 0.1, 0.9), pale = page(kGray, 0.6, 0.9);
    const double alone = threshold(strong, &cpu), carried = threshold(pale, &cpu);
    gst_harness_push_event(filter.harness(), gst_event_new_flush_start());
    gst_harness_push_event(filter.harness(), gst_event_new_flush_stop(TRUE));
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    gst_harness_push_event(filter.harness(), gst_event_new_segment(&segment));
    const double fresh = threshold(pale, nullptr);
    EXPECT_GT(alone, carried);
    EXPECT_GT(carried, fresh);
  }
}

TEST_P(Binarize, SmoothingStartsAgainAfterABlankFrameAndWhenTheInkTurns) {
  const Picture strong = page(kGray, 0.1, 0.9), pale = page(kGray, 0.6, 0.9);
  for (const Picture &between : {blank_page(kGray), page(kGray, 0.9, 0.2)}) {
    Filter filter(element("smoothing=0.9 report=message")), alone(element("report=message"));
    for (const Picture *in : {&strong, &between, &pale}) filter.process(*in);
    const Picture wanted = alone.process(pale);
    for (int i = 0; i < 2; ++i) filter.pop(GST_MESSAGE_ELEMENT);
    Ref<GstMessage> last = filter.pop(GST_MESSAGE_ELEMENT), one = alone.pop(GST_MESSAGE_ELEMENT);
    ASSERT_TRUE(last && one);
    for (const char *name : {"threshold", "stroke-width", "ink-ratio"}) {
      double after = -1, fresh = -2;
      gst_structure_get_double(gst_message_get_structure(last.get()), name, &after);
      gst_structure_get_double(gst_message_get_structure(one.get()), name, &fresh);
      EXPECT_EQ(after, fresh) << name;
    }
  }
}

// ---- The report ------------------------------------------------------------------------------

void check_report(const GstStructure *fields, const BinarizeReport &measured) {
  ASSERT_TRUE(fields);
  for (const auto &[name, value] :
       {std::pair{"blank", measured.blank}, std::pair{"inverted", measured.inverted}}) {
    gboolean reported = -1;
    EXPECT_TRUE(gst_structure_get_boolean(fields, name, &reported)) << name;
    EXPECT_EQ(reported, value ? TRUE : FALSE) << name;
  }
  for (const auto &[name, value] : {std::pair{"confidence", measured.confidence},
                                    {"stroke-width", measured.stroke_width},
                                    {"threshold", measured.threshold},
                                    {"paper-deviation", measured.paper_deviation},
                                    {"ink-darkness", measured.ink_darkness},
                                    {"ink-ratio", measured.ink_ratio}}) {
    double reported = -1;
    EXPECT_TRUE(gst_structure_get_double(fields, name, &reported)) << name;
    EXPECT_EQ(reported, value) << name;
  }
}

TEST_P(Binarize, ReportsAreWhatTheKernelsMeasure) {
  const Case<Params> cases[] = {
      {"", {}},
      {"level=fast", {.level = Level::fast}},
      {"level=sized roi=<3,4,50,20>", {.level = Level::sized, .roi = {3, 4, 50, 20}}},
      {"output=darkness", {.output = Output::darkness}}};
  for (const auto &[settings, params] : cases)
    for (const GstVideoFormat format : {kGray, GST_VIDEO_FORMAT_P010_10LE})
      for (const Picture &in : {make_picture(format, 101, 47), page(format, 0.2, 0.8),
                                page(format, 0.9, 0.2), blank_page(format)}) {
        SCOPED_TRACE(settings);
        Filter filter(element(std::string("report=message+meta ") + settings));
        BinarizeReport measured;
        const Picture wanted = expected(in, params, GST_VIDEO_FORMAT_UNKNOWN, &measured);
        ASSERT_EQ(filter.push_picture(in), GST_FLOW_OK);
        Ref<GstBuffer> out = filter.pull();
        EXPECT_TRUE(same(to_picture(out.get(), filter.output_caps().get()), wanted));
        Ref<GstMessage> message = filter.pop(GST_MESSAGE_ELEMENT);
        ASSERT_TRUE(message);
        EXPECT_TRUE(gst_message_has_name(message.get(), "cudabinarize"));
        check_report(gst_message_get_structure(message.get()), measured);
        GstCustomMeta *meta = gst_buffer_get_custom_meta(out.get(), "cudascan-result");
        ASSERT_TRUE(meta);
        check_report(gst_custom_meta_get_structure(meta), measured);
      }
}

TEST_P(Binarize, TheReportKnowsBlankPagesPolarityAndStrokes) {
  const auto report_of = [this](const Picture &in) {
    Filter filter(element("report=message"));
    filter.process(in);
    Ref<GstMessage> message = filter.pop(GST_MESSAGE_ELEMENT);
    return Ref<GstStructure>(gst_structure_copy(gst_message_get_structure(message.get())));
  };
  const auto real = [](const GstStructure *fields, const char *name) {
    double value = -1;
    gst_structure_get_double(fields, name, &value);
    return value;
  };
  const auto is = [](const GstStructure *fields, const char *name) {
    gboolean value = FALSE;
    return gst_structure_get_boolean(fields, name, &value) && value;
  };
  const auto blank = report_of(blank_page(kGray)), dark = report_of(page(kGray, 0.2, 0.9)),
             light = report_of(page(kGray, 0.9, 0.2));
  EXPECT_TRUE(is(blank.get(), "blank"));
  EXPECT_EQ(real(blank.get(), "stroke-width"), 0);
  EXPECT_EQ(real(blank.get(), "ink-ratio"), 0);
  EXPECT_FALSE(is(dark.get(), "blank"));
  EXPECT_FALSE(is(dark.get(), "inverted"));
  EXPECT_TRUE(is(light.get(), "inverted"));
  EXPECT_NEAR(real(dark.get(), "stroke-width"), 3, 1);
  EXPECT_GT(real(dark.get(), "ink-darkness"), 0.5);
}

}  // namespace
}  // namespace cudascan::elements
