// SPDX-License-Identifier: LGPL-2.1-or-later
// cudaequalize: its settings, the range of luma and the report.
#include <algorithm>

#include "tests/elements/operators.h"

namespace cudascan::elements {
namespace {

using Params = EqualizeParams;

class Equalize : public BackendTest {
 protected:
  std::string element(const std::string &settings = "") const {
    return launch("cudaequalize", settings);
  }
};
INSTANTIATE_BACKENDS(Equalize);

TEST(EqualizeDefaults, AreThoseOfTheParameters) {
  Filter filter("cudaequalize");
  const Params defaults;
  const std::pair<const char *, std::string> values[] = {
      {"method", "global"}, {"formula", "opencv"}, {"tiles-x", "8"},     {"tiles-y", "8"},
      {"smoothing", "0"},   {"roi", "<  >"},       {"algorithm", "auto"}};
  for (const auto &[name, value] : values) EXPECT_EQ(filter.get_string(name), value) << name;
  EXPECT_EQ(std::stod(filter.get_string("clip-limit")), defaults.clip_limit);
  EXPECT_EQ(std::stod(filter.get_string("amount")), defaults.amount);
}

TEST_P(Equalize, EveryFormatKeepsItsChroma) {
  expect_kernels_result(element(), Case<Params>{"", {}});
  expect_kernels_result(
      element(),
      Case<Params>{"method=clahe clip-limit=3 tiles-x=4 tiles-y=2",
                   {.method = EqualizeMethod::clahe, .clip_limit = 3, .tiles_x = 4, .tiles_y = 2}});
}

TEST_P(Equalize, SettingsCount) {
  expect_settings_to_count<Params>(
      element(), {{"formula=cdf", {.formula = EqualizeFormula::cdf}},
                  {"amount=0.5", {.amount = 0.5}},
                  {"amount=0", {.amount = 0}},
                  {"roi=<10,20,30,15>", {.roi = {10, 20, 30, 15}}},
                  {"method=clahe", {.method = EqualizeMethod::clahe}},
                  {"method=clahe clip-limit=0 tiles-x=1",
                   {.method = EqualizeMethod::clahe, .clip_limit = 0, .tiles_x = 1}},
                  {"n-threads=3", {}}});
}

TEST_P(Equalize, BaselinesAreTheKernels) {
  const Picture in = make_picture(GST_VIDEO_FORMAT_GRAY8, 93, 71);
  for (const auto &[name, algorithm] : {std::pair{"naive", EqualizeAlgorithm::naive},
                                        std::pair{"shared", EqualizeAlgorithm::shared}}) {
    Filter filter(element(std::string("formula=cdf algorithm=") + name));
    EXPECT_TRUE(same(filter.process(in), expected(in, Params{.formula = EqualizeFormula::cdf,
                                                             .algorithm = algorithm})));
  }
}

TEST_P(Equalize, ChangesTakeEffectWithTheNextFrame) {
  expect_changes_to_count<Params>(
      element(), {{"formula", "cdf", [](Params &p) { p.formula = EqualizeFormula::cdf; }},
                  {"amount", "0.25", [](Params &p) { p.amount = 0.25; }},
                  {"roi", "<5,6,40,30>",
                   [](Params &p) {
                     p.roi = {5, 6, 40, 30};
                   }},
                  {"roi", "<>", [](Params &p) { p.roi = {}; }},
                  {"amount", "1", [](Params &p) { p.amount = 1; }},
                  {"formula", "opencv", [](Params &p) { p.formula = EqualizeFormula::opencv; }},
                  {"method", "clahe", [](Params &p) { p.method = EqualizeMethod::clahe; }},
                  {"clip-limit", "2.5", [](Params &p) { p.clip_limit = 2.5; }},
                  {"tiles-x", "3", [](Params &p) { p.tiles_x = 3; }},
                  {"tiles-y", "5", [](Params &p) { p.tiles_y = 5; }},
                  {"method", "global", [](Params &p) { p.method = EqualizeMethod::global; }}});
}

TEST_P(Equalize, SettingsThatMakeNoSense) {
  expect_refusals(element(),
                  {{{{"clip-limit", "-1"}}, {"clip-limit = -1", "0"}},
                   {{{"clip-limit", "nan"}}, {"clip-limit = nan"}},
                   {{{"tiles-x", "0"}}, {"tiles-x = 0", "1 to 64"}},
                   {{{"tiles-y", "65"}}, {"tiles-y = 65", "1 to 64"}},
                   {{{"amount", "1.5"}}, {"amount = 1.5", "0 to 1"}},
                   {{{"smoothing", "1"}}, {"smoothing = 1", "0.999"}},
                   {{{"method", "clahe"}, {"formula", "cdf"}}, {"formula = cdf", "clahe"}},
                   {{{"method", "clahe"}, {"smoothing", "0.5"}}, {"smoothing = 0.5", "clahe"}},
                   {{{"method", "clahe"}, {"roi", "<1,2,3,4>"}}, {"roi", "clahe"}},
                   {{{"algorithm", "naive"}}, {"algorithm = naive", "cdf"}},
                   {{{"roi", "<1,2>"}}, {"roi = <1, 2>", "four integers"}},
                   {{{"roi", "<0,60,5,5>"}}, {"roi = <0, 60, 5, 5>", "90x60"}}});
}

// ---- The range of luma -----------------------------------------------------------------------

/// Samples in the middle of the range, unevenly distributed.
Picture dull(GstVideoFormat format, bool full_range) {
  Picture p = make_picture(format, 80, 50);
  p.full_range = full_range;
  const int shift = p.format_info()->depth[0] - 8 + p.format_info()->shift[0];
  for (std::size_t i = 0; i < p.components[0].size(); ++i)
    p.components[0][i] = static_cast<std::uint16_t>((80 + i * i % 47) << shift);
  return p;
}

TEST_P(Equalize, LimitedRangeStaysInItsRange) {
  for (const GstVideoFormat format : {GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_Y444_12LE,
                                      GST_VIDEO_FORMAT_P010_10LE, GST_VIDEO_FORMAT_P016_LE})
    for (const char *settings : {"", "method=clahe tiles-x=2 tiles-y=2 clip-limit=0"}) {
      SCOPED_TRACE(std::string(gst_video_format_to_string(format)) + " " + settings);
      Filter filter(element(settings));
      const Picture out = filter.process(dull(format, false));
      const int shift = out.format_info()->depth[0] - 8 + out.format_info()->shift[0];
      const auto [least, most] =
          std::minmax_element(out.components[0].begin(), out.components[0].end());
      EXPECT_GE(*least, 16 << shift);
      EXPECT_LE(*most, 235 << shift);
      if (!*settings) {
        EXPECT_EQ(*least, 16 << shift);
        EXPECT_EQ(*most, 235 << shift);
      }
    }
}

TEST_P(Equalize, FullRangeIsUsedWhereTheCapsSaySo) {
  for (const GstVideoFormat format : {GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_P010_10LE}) {
    Filter filter(element());
    const Picture in = dull(format, true), out = filter.process(in);
    EXPECT_TRUE(same(out, expected(in, Params{})));
    const auto [least, most] =
        std::minmax_element(out.components[0].begin(), out.components[0].end());
    EXPECT_EQ(*least, 0);
    EXPECT_EQ(*most, out.maximum());
    EXPECT_TRUE(same(filter.process(dull(format, false)), expected(dull(format, false), Params{})))
        << "only the range has changed";
  }
}

TEST_P(Equalize, GrayIsOfFullRangeUnlessTheCapsSayLimited) {
  const Picture in = dull(GST_VIDEO_FORMAT_GRAY8, false);
  for (const bool limited : {false, true}) {
    Filter filter(element());
    Ref<GstCaps> caps = make_caps(in);
    if (limited) gst_caps_set_simple(caps.get(), "colorimetry", G_TYPE_STRING, "2:4:16:4", nullptr);
    filter.set_caps(caps.get());
    ASSERT_EQ(filter.push(to_buffer(in)), GST_FLOW_OK);
    const Picture out = to_picture(filter.pull().get(), filter.output_caps().get());
    const auto [least, most] =
        std::minmax_element(out.components[0].begin(), out.components[0].end());
    EXPECT_EQ(*least, limited ? 16 : 0);
    EXPECT_EQ(*most, limited ? 235 : 255);
  }
}

// ---- The report ------------------------------------------------------------------------------

void check_report(const GstStructure *fields, const EqualizeReport &measured) {
  ASSERT_TRUE(fields);
  int minimum = -1, maximum = -1;
  double mean = -1;
  EXPECT_TRUE(gst_structure_get_int(fields, "minimum", &minimum));
  EXPECT_TRUE(gst_structure_get_int(fields, "maximum", &maximum));
  EXPECT_TRUE(gst_structure_get_double(fields, "mean", &mean));
  EXPECT_EQ(minimum, measured.minimum);
  EXPECT_EQ(maximum, measured.maximum);
  EXPECT_EQ(mean, measured.mean);
  EXPECT_EQ(numbers_of<guint>(fields, "histogram"), measured.histogram);
}

TEST_P(Equalize, ReportsAreWhatTheKernelsMeasure) {
  const Case<Params> cases[] = {{"", {}},
                                {"roi=<3,4,50,20>", {.roi = {3, 4, 50, 20}}},
                                {"method=clahe", {.method = EqualizeMethod::clahe}}};
  for (const auto &[settings, params] : cases)
    for (const GstVideoFormat format : {GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_P010_10LE}) {
      SCOPED_TRACE(settings);
      Filter filter(element(std::string("report=message+meta ") + settings));
      const Picture in = make_picture(format, 101, 47);
      EqualizeReport measured;
      const Picture wanted = expected(in, params, GST_VIDEO_FORMAT_UNKNOWN, &measured);
      ASSERT_EQ(filter.push_picture(in), GST_FLOW_OK);
      Ref<GstBuffer> out = filter.pull();
      EXPECT_TRUE(same(to_picture(out.get(), filter.output_caps().get()), wanted));
      Ref<GstMessage> message = filter.pop(GST_MESSAGE_ELEMENT);
      ASSERT_TRUE(message);
      EXPECT_TRUE(gst_message_has_name(message.get(), "cudaequalize"));
      check_report(gst_message_get_structure(message.get()), measured);
      GstCustomMeta *meta = gst_buffer_get_custom_meta(out.get(), "cudascan-result");
      ASSERT_TRUE(meta);
      check_report(gst_custom_meta_get_structure(meta), measured);
    }
}

}  // namespace
}  // namespace cudascan::elements
