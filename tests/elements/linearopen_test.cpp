// SPDX-License-Identifier: LGPL-2.1-or-later
// cudalinearopen: its settings, directions as colours and the report.
#include "tests/elements/operators.h"

namespace cudascan::elements {
namespace {

using Params = LinearOpenParams;
using enum LinearOpenOperation;
using Algorithm = LinearOpenAlgorithm;
constexpr auto kOrientation = LinearOpenOutput::orientation;
constexpr auto kInvariant = LinearOpenLines::invariant;

class LinearOpen : public BackendTest {
 protected:
  std::string element(const std::string &settings = "") const {
    return launch("cudalinearopen", settings);
  }
};
INSTANTIATE_BACKENDS(LinearOpen);

TEST(LinearOpenDefaults, AreThoseOfTheParameters) {
  Filter filter("cudalinearopen");
  const Params defaults;
  const std::pair<const char *, std::string> values[] = {
      {"operation", "opening"},
      {"length", std::to_string(defaults.length)},
      {"directions", std::to_string(defaults.directions)},
      {"output", "filtered"},
      {"lines", "partition"},
      {"algorithm", "auto"}};
  for (const auto &[name, value] : values) EXPECT_EQ(filter.get_string(name), value) << name;
  EXPECT_EQ(std::stod(filter.get_string("angle")), defaults.angle);
  EXPECT_EQ(std::stod(filter.get_string("span")), defaults.span);
}

TEST_P(LinearOpen, EveryFormatKeepsItsChroma) {
  expect_kernels_result(element(), Case<Params>{"", {}});
  expect_kernels_result(
      element(), Case<Params>{"operation=black-hat length=9 angle=20 directions=3",
                              {.operation = black_hat, .length = 9, .angle = 20, .directions = 3}});
}

TEST_P(LinearOpen, LengthOneIsTheInput) {
  for (const GstVideoFormat format : {GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_P010_10LE}) {
    Filter filter(element("length=1 angle=33"));
    const Picture in = make_picture(format, 61, 37);
    EXPECT_TRUE(same(filter.process(in), in));
  }
}

TEST_P(LinearOpen, ResultsAreNotCutDownToGray8) {
  for (const char *settings : {"", "output=orientation"}) {
    Filter filter(element(settings), "video/x-raw, format=GRAY8");
    EXPECT_NE(filter.push_picture(make_picture(GST_VIDEO_FORMAT_GRAY16_LE, 20, 10)), GST_FLOW_OK);
  }
}

TEST_P(LinearOpen, SettingsCount) {
  expect_settings_to_count<Params>(
      element(),
      {{"operation=closing", {.operation = closing}},
       {"operation=top-hat", {.operation = top_hat}},
       {"operation=black-hat", {.operation = black_hat}},
       {"length=6 angle=100.5", {.length = 6, .angle = 100.5}},
       {"length=4096 angle=-45", {.length = 4096, .angle = -45}},
       {"directions=7", {.directions = 7}},
       {"angle=-10 directions=5 span=20", {.angle = -10, .directions = 5, .span = 20}},
       {"lines=invariant angle=17", {.angle = 17, .lines = kInvariant}},
       {"algorithm=bartovsky angle=60", {.angle = 60, .algorithm = Algorithm::bartovsky}},
       {"algorithm=morard angle=60", {.angle = 60, .algorithm = Algorithm::morard}},
       {"algorithm=bartovsky-zones angle=60",
        {.angle = 60, .algorithm = Algorithm::bartovsky_zones}},
       {"output=orientation directions=18", {.directions = 18, .output = kOrientation}},
       {"n-threads=3", {}}});
}

TEST_P(LinearOpen, ChangesTakeEffectWithTheNextFrame) {
  expect_changes_to_count<Params>(
      element(), {{"operation", "closing", [](Params &p) { p.operation = closing; }},
                  {"length", "8", [](Params &p) { p.length = 8; }},
                  {"angle", "37.5", [](Params &p) { p.angle = 37.5; }},
                  {"directions", "6", [](Params &p) { p.directions = 6; }},
                  {"span", "45", [](Params &p) { p.span = 45; }},
                  {"output", "orientation", [](Params &p) { p.output = kOrientation; }},
                  {"span", "180", [](Params &p) { p.span = 180; }},
                  {"lines", "invariant", [](Params &p) { p.lines = kInvariant; }},
                  {"output", "filtered", [](Params &p) { p.output = LinearOpenOutput::filtered; }},
                  {"lines", "partition", [](Params &p) { p.lines = LinearOpenLines::partition; }},
                  {"algorithm", "morard", [](Params &p) { p.algorithm = Algorithm::morard; }},
                  {"operation", "top-hat", [](Params &p) { p.operation = top_hat; }}});
}

TEST_P(LinearOpen, SettingsThatMakeNoSense) {
  expect_refusals(element(), {{{{"length", "0"}}, {"length = 0", "1 to 4096"}},
                              {{{"length", "4097"}}, {"length = 4097", "1 to 4096"}},
                              {{{"angle", "nan"}}, {"angle = nan", "-360 to 360"}},
                              {{{"angle", "inf"}}, {"angle = inf", "-360 to 360"}},
                              {{{"angle", "361"}}, {"angle = 361", "-360 to 360"}},
                              {{{"directions", "0"}}, {"directions = 0", "1 to 1024"}},
                              {{{"directions", "1025"}}, {"directions = 1025", "1 to 1024"}},
                              {{{"span", "0"}}, {"span = 0", "above 0, up to 180"}},
                              {{{"span", "-20"}}, {"span = -20", "above 0, up to 180"}},
                              {{{"span", "nan"}}, {"span = nan", "above 0, up to 180"}},
                              {{{"lines", "invariant"}, {"algorithm", "morard"}},
                               {"algorithm = morard", "lines = invariant", "algorithm = auto"}},
                              {{{"lines", "invariant"}, {"algorithm", "bartovsky-zones"}},
                               {"algorithm = bartovsky-zones", "lines = partition"}}});
}

// ---- Directions as colours -------------------------------------------------------------------

TEST_P(LinearOpen, ChromaShowsDirections) {
  expect_kernels_result(element(),
                        Case<Params>{"length=7 directions=12 output=orientation",
                                     {.length = 7, .directions = 12, .output = kOrientation}});
}

/// White lines in one direction on black.
Picture lines(GstVideoFormat format, int dx, int dy) {
  Picture p = make_picture(format, 64, 48);
  for (int y = 0; y < p.height; ++y)
    for (int x = 0; x < p.width; ++x)
      p.components[0][static_cast<std::size_t>(y) * p.width + x] =
          (x * dy - y * dx + 640) % 8 == 0 ? p.maximum() : 0;
  return p;
}

/// A luma sample in degrees, and chroma in 8-bit levels relative to the neutral value.
struct Levels {
  int y, u, v;
};

TEST_P(LinearOpen, HuesAreTwiceTheAngle) {
  const struct {
    int dx, dy, angle;
    Levels colour;
  } cases[] = {{1, 0, 0, {0, 112, 0}},
               {1, -1, 45, {45, 0, 112}},
               {0, 1, 90, {90, -112, 0}},
               {1, 1, 135, {135, 0, -112}}};
  for (const GstVideoFormat format :
       {GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_YV12, GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_NV21,
        GST_VIDEO_FORMAT_Y42B, GST_VIDEO_FORMAT_NV16, GST_VIDEO_FORMAT_Y444, GST_VIDEO_FORMAT_NV24,
        GST_VIDEO_FORMAT_I420_10LE, GST_VIDEO_FORMAT_P010_10LE, GST_VIDEO_FORMAT_P016_LE})
    for (const auto &[dx, dy, angle, colour] : cases) {
      SCOPED_TRACE(testing::Message()
                   << gst_video_format_to_string(format) << ", " << angle << " degrees");
      Filter filter(element("length=15 directions=4 output=orientation"));
      const Picture out = filter.process(lines(format, dx, dy));
      ASSERT_EQ(out.components.size(), 3u);
      const auto *info = out.format_info();
      // This pixel is on a line, as are all pixels that its chroma samples cover.
      const int x = 32, y = 24;
      const auto at = [&](unsigned c) {
        const auto width = static_cast<std::size_t>(out.component_width(c));
        return out.components[c][(y >> info->h_sub[c]) * width + (x >> info->w_sub[c])];
      };
      const int step = 1 << info->shift[0], level = 1 << (info->depth[1] - 8 + info->shift[1]);
      EXPECT_EQ(at(0), colour.y * step);
      EXPECT_EQ(at(1), out.neutral() + colour.u * level);
      EXPECT_EQ(at(2), out.neutral() + colour.v * level);
    }
}

TEST_P(LinearOpen, GrayHasTheAngleAlone) {
  for (const GstVideoFormat format : {GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_GRAY16_LE}) {
    Filter filter(element("length=15 directions=4 output=orientation"));
    const Picture out = filter.process(lines(format, 1, -1));
    ASSERT_EQ(out.components.size(), 1u);
    EXPECT_EQ(out.components[0][24 * 64 + 32], 45);
  }
}

TEST_P(LinearOpen, OddLayoutsOfChroma) {
  const Params params{.length = 5, .directions = 9, .output = kOrientation};
  for (const GstVideoFormat format :
       {GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_P010_10LE})
    for (const Layout layout :
         {Layout{.row_padding = 6, .plane_padding = 14}, Layout{.row_padding = 2, .split = true}}) {
      Filter filter(element("length=5 directions=9 output=orientation"));
      const Picture in = make_picture(format, 33, 21);
      EXPECT_TRUE(same(filter.process(in, layout), expected(in, params)));
    }
}

// ---- The report ------------------------------------------------------------------------------

void check_report(const GstStructure *fields, const LinearOpenReport &measured) {
  ASSERT_TRUE(fields);
  const auto real = [&](const char *name) {
    double value = -1;
    EXPECT_TRUE(gst_structure_get_double(fields, name, &value)) << name;
    return value;
  };
  EXPECT_EQ(numbers_of<double>(fields, "angles"), measured.angles);
  EXPECT_EQ(numbers_of<std::int64_t>(fields, "spectrum"), measured.spectrum);
  EXPECT_EQ(real("dominant-angle"), measured.dominant_angle);
  EXPECT_EQ(real("confidence"), measured.confidence);
  gboolean blank = 2;
  EXPECT_TRUE(gst_structure_get_boolean(fields, "blank", &blank));
  EXPECT_EQ(blank, static_cast<gboolean>(measured.blank));
}

TEST_P(LinearOpen, ReportsAreWhatTheKernelsMeasure) {
  const Case<Params> cases[] = {
      {"", {}},
      {"operation=closing length=40 angle=-10 span=20 directions=81",
       {.operation = closing, .length = 40, .angle = -10, .directions = 81, .span = 20}},
      {"operation=black-hat directions=4", {.operation = black_hat, .directions = 4}},
      {"directions=6 output=orientation", {.directions = 6, .output = kOrientation}}};
  for (const auto &[settings, params] : cases)
    for (const GstVideoFormat format :
         {GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_P010_10LE}) {
      SCOPED_TRACE(settings);
      Filter filter(element(std::string("report=message+meta ") + settings));
      const Picture in = make_picture(format, 101, 47);
      LinearOpenReport measured;
      const Picture wanted = expected(in, params, GST_VIDEO_FORMAT_UNKNOWN, &measured);
      ASSERT_EQ(measured.spectrum.size(), static_cast<std::size_t>(params.directions));
      ASSERT_EQ(filter.push_picture(in), GST_FLOW_OK);
      Ref<GstBuffer> out = filter.pull();
      EXPECT_TRUE(same(to_picture(out.get(), filter.output_caps().get()), wanted));
      Ref<GstMessage> message = filter.pop(GST_MESSAGE_ELEMENT);
      ASSERT_TRUE(message);
      EXPECT_TRUE(gst_message_has_name(message.get(), "cudalinearopen"));
      check_report(gst_message_get_structure(message.get()), measured);
      GstCustomMeta *meta = gst_buffer_get_custom_meta(out.get(), "cudascan-result");
      ASSERT_TRUE(meta);
      check_report(gst_custom_meta_get_structure(meta), measured);
    }
}

TEST_P(LinearOpen, AnEmptyPageIsBlank) {
  Filter filter(element("report=message operation=closing directions=36"));
  ASSERT_EQ(filter.push_picture(flat(GST_VIDEO_FORMAT_GRAY8, 230)), GST_FLOW_OK);
  Ref<GstMessage> message = filter.pop(GST_MESSAGE_ELEMENT);
  ASSERT_TRUE(message);
  gboolean blank = FALSE;
  EXPECT_TRUE(gst_structure_get_boolean(gst_message_get_structure(message.get()), "blank", &blank));
  EXPECT_TRUE(blank);
}

}  // namespace
}  // namespace cudascan::elements
