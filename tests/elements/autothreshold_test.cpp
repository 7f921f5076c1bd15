// SPDX-License-Identifier: LGPL-2.1-or-later
// cudaautothreshold: its settings, the region of interest, the threshold property and the report.
#include <atomic>

#include "tests/elements/operators.h"

namespace cudascan::elements {
namespace {

using Params = AutothresholdParams;
using Method = AutothresholdMethod;

class Autothreshold : public BackendTest {
 protected:
  std::string element(const std::string &settings = "") const {
    return launch("cudaautothreshold", settings);
  }
};
INSTANTIATE_BACKENDS(Autothreshold);

constexpr GstVideoFormat kFormat = GST_VIDEO_FORMAT_GRAY8;

TEST(AutothresholdDefaults, AreThoseOfTheParameters) {
  Filter filter("cudaautothreshold");
  const Params defaults;
  const std::pair<const char *, std::string> values[] = {
      {"method", "otsu"},        {"classes", std::to_string(defaults.classes)},
      {"apply", "true"},         {"invert", "false"},
      {"offset", "0"},           {"smoothing", "0"},
      {"hysteresis", "0"},       {"ignore-black", "false"},
      {"ignore-white", "false"}, {"roi", "<  >"},
      {"threshold", "0"},        {"algorithm", "auto"}};
  for (const auto &[name, value] : values) EXPECT_EQ(filter.get_string(name), value) << name;
}

TEST_P(Autothreshold, EveryFormatIsBlackAndWhiteOrPassed) {
  expect_kernels_result(element(), Case<Params>{"", {}});
  expect_kernels_result(element(), Case<Params>{"apply=false", {.apply = false}});
  expect_kernels_result(element(), Case<Params>{"classes=3", {.classes = 3}});
  expect_kernels_result(element(), Case<Params>{"invert=true", {.invert = true}}, true);
}

TEST_P(Autothreshold, WithoutApplyTheFrameIsTheInput) {
  for (const GstVideoFormat format : {GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_P010_10LE}) {
    Filter filter(element("apply=false"));
    const Picture in = make_picture(format, 61, 37);
    EXPECT_TRUE(same(filter.process(in), in));
  }
}

TEST_P(Autothreshold, OnlyBlackAndWhiteIsCutDownToGray8) {
  for (const char *settings : {"apply=false", "classes=3"}) {
    Filter filter(element(settings), "video/x-raw, format=GRAY8");
    EXPECT_NE(filter.push_picture(make_picture(GST_VIDEO_FORMAT_GRAY16_LE, 20, 10)), GST_FLOW_OK);
  }
}

TEST_P(Autothreshold, SettingsCount) {
  expect_settings_to_count<Params>(element(),
                                   {{"method=isodata", {.method = Method::isodata}},
                                    {"method=mcet", {.method = Method::mcet}},
                                    {"method=triangle", {.method = Method::triangle}},
                                    {"method=max-entropy", {.method = Method::max_entropy}},
                                    {"method=yen", {.method = Method::yen}},
                                    {"method=li", {.method = Method::li}},
                                    {"method=minimum", {.method = Method::minimum}},
                                    {"method=intermodes", {.method = Method::intermodes}},
                                    {"method=moments", {.method = Method::moments}},
                                    {"method=huang", {.method = Method::huang}},
                                    {"method=renyi-entropy", {.method = Method::renyi_entropy}},
                                    {"method=shanbhag", {.method = Method::shanbhag}},
                                    {"method=percentile", {.method = Method::percentile}},
                                    {"method=mean", {.method = Method::mean}},
                                    {"classes=4 invert=true", {.classes = 4, .invert = true}},
                                    {"offset=-30", {.offset = -30}},
                                    {"ignore-black=true", {.ignore_black = true}},
                                    {"ignore-white=true", {.ignore_white = true}},
                                    {"roi=<10,20,30,15>", {.roi = {10, 20, 30, 15}}},
                                    {"roi=\"< (int)1, 2, 300, 300 >\"", {.roi = {1, 2, 300, 300}}},
                                    {"n-threads=3", {}}});
}

TEST_P(Autothreshold, TheBaselineTakesEightBits) {
  const Picture in = make_picture(kFormat, 93, 71);
  Filter filter(element("algorithm=prahara"));
  const Params params = {.algorithm = AutothresholdAlgorithm::prahara};
  EXPECT_TRUE(same(filter.process(in), expected(in, params)));
  const std::string text =
      error_of_next_frame(filter, make_picture(GST_VIDEO_FORMAT_GRAY16_LE, 93, 71));
  EXPECT_NE(text.find("algorithm = prahara"), std::string::npos) << text;
}

TEST_P(Autothreshold, ChangesTakeEffectWithTheNextFrame) {
  expect_changes_to_count<Params>(
      element(), {{"method", "percentile", [](Params &p) { p.method = Method::percentile; }},
                  {"invert", "true", [](Params &p) { p.invert = true; }},
                  {"offset", "12", [](Params &p) { p.offset = 12; }},
                  {"ignore-black", "true", [](Params &p) { p.ignore_black = true; }},
                  {"ignore-white", "true", [](Params &p) { p.ignore_white = true; }},
                  {"roi", "<5,6,40,30>",
                   [](Params &p) {
                     p.roi = {5, 6, 40, 30};
                   }},
                  {"roi", "<>", [](Params &p) { p.roi = {}; }},
                  {"apply", "false", [](Params &p) { p.apply = false; }},
                  {"apply", "true", [](Params &p) { p.apply = true; }},
                  {"method", "otsu", [](Params &p) { p.method = Method::otsu; }},
                  {"classes", "3", [](Params &p) { p.classes = 3; }},
                  {"classes", "2", [](Params &p) { p.classes = 2; }}});
}

TEST_P(Autothreshold, SettingsThatMakeNoSense) {
  expect_refusals(
      element(),
      {{{{"classes", "1"}}, {"classes = 1", "2 to 4"}},
       {{{"classes", "5"}}, {"classes = 5", "2 to 4"}},
       {{{"classes", "3"}, {"method", "li"}}, {"classes = 3", "otsu"}},
       {{{"classes", "3"}, {"smoothing", "0.5"}}, {"classes = 3", "smoothing = 0.5"}},
       {{{"offset", "70000"}}, {"offset = 70000", "65535"}},
       {{{"smoothing", "1"}}, {"smoothing = 1", "0.999"}},
       {{{"smoothing", "nan"}}, {"smoothing = nan", "0.999"}},
       {{{"hysteresis", "-2"}}, {"hysteresis = -2", "0 to 65535"}},
       {{{"algorithm", "prahara"}, {"method", "yen"}}, {"algorithm = prahara", "mcet"}},
       {{{"roi", "<1,2,3>"}}, {"roi = <1, 2, 3>", "four integers", "<x, y, width, height>"}},
       {{{"roi", "<1,2,3,4,5>"}}, {"roi = <1, 2, 3, 4, 5>", "four integers"}},
       {{{"roi", "<-1,2,3,4>"}}, {"roi = <-1, 2, 3, 4>", "0 or more"}},
       {{{"roi", "<90,0,5,5>"}}, {"roi = <90, 0, 5, 5>", "90x60"}}});
}

// ---- The region of interest ------------------------------------------------------------------

TEST_P(Autothreshold, ARoiIsReadBackAsItWasWritten) {
  Filter filter(element("roi=<10,20,30,15>"));
  EXPECT_EQ(filter.get_string("roi"), "< (int)10, (int)20, (int)30, (int)15 >");
  set_array<int>(filter.element(), "roi", {1, 2, 3, 4});
  EXPECT_EQ(filter.get_string("roi"), "< (int)1, (int)2, (int)3, (int)4 >");
  set_array<int>(filter.element(), "roi", {});
  EXPECT_EQ(filter.get_string("roi"), "<  >");
}

TEST_P(Autothreshold, ARoiOfOtherTypesIsAnError) {
  const Picture in = make_picture(kFormat, 90, 60);
  Filter filter(element());
  set_array<double>(filter.element(), "roi", {1, 2, 30.5, 40});
  const std::string text = error_of_next_frame(filter, in);
  EXPECT_NE(text.find("roi = <?, ?, ?, ?>"), std::string::npos) << text;
  EXPECT_NE(text.find("four integers"), std::string::npos) << text;
  set_array<int>(filter.element(), "roi", {1, 2, 30, 40});
  EXPECT_TRUE(same(filter.process(in), expected(in, Params{.roi = {1, 2, 30, 40}})));
}

TEST_P(Autothreshold, ARoiThatNoArrayCanBeMadeOfIsNotTaken) {
  for (const char *roi : {"hello", "<1,2,3,four>", "<1.5,2,3,4>"}) {
    g_autoptr(GError) error = nullptr;
    GstElement *bin = gst_parse_launch((element() + "roi=\"" + roi + "\"").c_str(), &error);
    EXPECT_TRUE(error) << roi;
    if (bin) gst_object_unref(gst_object_ref_sink(bin));
  }
}

// ---- The threshold ---------------------------------------------------------------------------

TEST_P(Autothreshold, ThresholdNotifiesWhenItChangesAndOnlyThen) {
  Filter filter(element("method=mean"));
  std::vector<int> seen;
  Listener listener(filter.element(), "notify::threshold", [&] {
    int threshold = -1;
    g_object_get(filter.element(), "threshold", &threshold, nullptr);
    seen.push_back(threshold);
  });
  for (const int level : {100, 100, 100, 140, 140, 90}) filter.process(flat(kFormat, level));
  EXPECT_EQ(seen, std::vector<int>({100, 140, 90}));
  g_object_set(filter.element(), "offset", 5, nullptr);
  filter.process(flat(kFormat, 90));
  EXPECT_EQ(seen.back(), 95) << "the property has the threshold that was applied";
}

TEST_P(Autothreshold, ThresholdNotifiesThroughTheBinsAround) {
  Filter filter(element("method=mean"));
  int seen = 0;
  {
    Listener listener(filter.harness()->element, "deep-notify::threshold", [&] { ++seen; });
    for (const int level : {100, 100, 140}) filter.process(flat(kFormat, level));
  }
  EXPECT_EQ(seen, 2);
}

TEST_P(Autothreshold, ThresholdCanBePolled) {
  Filter filter(element("method=mean"));
  filter.get_string("threshold");
  for (const int level : {100, 140}) {
    filter.process(flat(kFormat, level));
    EXPECT_EQ(filter.get_string("threshold"), std::to_string(level));
  }
}

TEST(AutothresholdOnTheCpu, ThresholdIsThereForWhoReadsItAtTheEnd) {
  Filter filter("cudaautothreshold backend=cpu method=mean");
  filter.process(flat(kFormat, 77));
  EXPECT_EQ(filter.get_string("threshold"), "77");
}

// ---- The report ------------------------------------------------------------------------------

void check_report(const GstStructure *fields, const Params &params,
                  const AutothresholdReport &measured) {
  ASSERT_TRUE(fields);
  const auto real = [&](const char *name) {
    double value = -1;
    EXPECT_TRUE(gst_structure_get_double(fields, name, &value)) << name;
    return value;
  };
  int threshold = -2;
  EXPECT_TRUE(gst_structure_get_int(fields, "threshold", &threshold));
  EXPECT_EQ(threshold, measured.threshold);
  EXPECT_STREQ(gst_structure_get_string(fields, "method"),
               params.method == Method::max_entropy ? "max-entropy" : "otsu");
  EXPECT_EQ(real("mean-below"), measured.mean_below);
  EXPECT_EQ(real("mean-above"), measured.mean_above);
  EXPECT_EQ(real("separability"), measured.separability);
  EXPECT_EQ(numbers_of<guint>(fields, "histogram"), measured.histogram);
  EXPECT_EQ(gst_structure_has_field(fields, "thresholds"), params.classes > 2);
  if (params.classes > 2) {
    EXPECT_EQ(numbers_of<int>(fields, "thresholds"), measured.thresholds);
  }
}

TEST_P(Autothreshold, ReportsAreWhatTheKernelsMeasure) {
  const Case<Params> cases[] = {
      {"", {}},
      {"method=max-entropy roi=<3,4,50,20>",
       {.method = Method::max_entropy, .roi = {3, 4, 50, 20}}},
      {"classes=4 ignore-white=true", {.classes = 4, .ignore_white = true}},
      {"apply=false offset=3", {.apply = false, .offset = 3}}};
  for (const auto &[settings, params] : cases)
    for (const GstVideoFormat format : {kFormat, GST_VIDEO_FORMAT_P010_10LE}) {
      SCOPED_TRACE(settings);
      Filter filter(element(std::string("report=message+meta ") + settings));
      const Picture in = make_picture(format, 101, 47);
      AutothresholdReport measured;
      const Picture wanted = expected(in, params, GST_VIDEO_FORMAT_UNKNOWN, &measured);
      ASSERT_EQ(filter.push_picture(in), GST_FLOW_OK);
      Ref<GstBuffer> out = filter.pull();
      EXPECT_TRUE(same(to_picture(out.get(), filter.output_caps().get()), wanted));
      Ref<GstMessage> message = filter.pop(GST_MESSAGE_ELEMENT);
      ASSERT_TRUE(message);
      EXPECT_TRUE(gst_message_has_name(message.get(), "cudaautothreshold"));
      check_report(gst_message_get_structure(message.get()), params, measured);
      GstCustomMeta *meta = gst_buffer_get_custom_meta(out.get(), "cudascan-result");
      ASSERT_TRUE(meta);
      check_report(gst_custom_meta_get_structure(meta), params, measured);
    }
}

}  // namespace
}  // namespace cudascan::elements
