// SPDX-License-Identifier: LGPL-2.1-or-later
// cudaswofilter: its operators, settings, refused settings and the report.
#include "tests/elements/operators.h"

namespace cudascan::elements {
namespace {

using Params = SwoFilterParams;
using Op = SwoFilterOperator;
using Border = SwoFilterBorder;
using Thinning = SwoFilterThinning;

class SwoFilter : public BackendTest {
 protected:
  std::string element(const std::string &settings = "") const {
    return launch("cudaswofilter", settings);
  }
};
INSTANTIATE_BACKENDS(SwoFilter);

TEST(SwoFilterDefaults, AreThoseOfTheParameters) {
  Filter filter("cudaswofilter");
  const Params defaults;
  const std::pair<const char *, std::string> values[] = {
      {"operator", "median"},
      {"window", std::to_string(defaults.window)},
      {"window-width", std::to_string(defaults.window_width)},
      {"window-height", std::to_string(defaults.window_height)},
      {"shape", defaults.shape},
      {"border", "clip"},
      {"border-value", std::to_string(defaults.border_value)},
      {"iterations", std::to_string(defaults.iterations)},
      {"thinning", "zhang-suen"},
      {"marker", "shifted"},
      {"height", std::to_string(defaults.height)},
      {"connectivity", std::to_string(defaults.connectivity)},
      {"algorithm", "auto"}};
  for (const auto &[name, value] : values) EXPECT_EQ(filter.get_string(name), value) << name;
  EXPECT_EQ(std::stod(filter.get_string("percentile")), defaults.percentile);
  EXPECT_EQ(std::stod(filter.get_string("alpha")), defaults.alpha);
}

const std::vector<Case<Params>> kOperators = {
    {"operator=min", {.op = Op::minimum}},
    {"operator=max", {.op = Op::maximum}},
    {"operator=midpoint", {.op = Op::midpoint}},
    {"operator=mean", {.op = Op::mean}},
    {"operator=standard-deviation", {.op = Op::standard_deviation}},
    {"operator=median", {.op = Op::median}},
    {"operator=rank percentile=20", {.op = Op::rank, .percentile = 20}},
    {"operator=alpha-trimmed-mean alpha=0.125", {.op = Op::alpha_trimmed_mean, .alpha = 0.125}},
    {"operator=mode", {.op = Op::mode}},
    {"operator=directional-median", {.op = Op::directional_median}},
    {"operator=erode", {.op = Op::erode}},
    {"operator=dilate", {.op = Op::dilate}},
    {"operator=open", {.op = Op::open}},
    {"operator=close", {.op = Op::close}},
    {"operator=gradient", {.op = Op::gradient}},
    {"operator=top-hat", {.op = Op::top_hat}},
    {"operator=black-hat", {.op = Op::black_hat}},
    {"operator=hit-or-miss", {.op = Op::hit_or_miss}},
    {"operator=thin", {.op = Op::thin}},
    {"operator=thicken", {.op = Op::thicken}},
    {"operator=recursive-erode", {.op = Op::recursive_erode}},
    {"operator=recursive-dilate", {.op = Op::recursive_dilate}},
    {"operator=geodesic-erode iterations=3", {.op = Op::geodesic_erode, .iterations = 3}},
    {"operator=geodesic-dilate iterations=3", {.op = Op::geodesic_dilate, .iterations = 3}},
    {"operator=reconstruct", {.op = Op::reconstruct}},
    {"operator=h-dome", {.op = Op::h_dome}},
    {"operator=h-basin", {.op = Op::h_basin}},
    {"operator=fill-holes", {.op = Op::fill_holes}},
    {"operator=clear-border", {.op = Op::clear_border}}};

TEST_P(SwoFilter, OperatorsAreThoseOfTheKernels) {
  ASSERT_EQ(kOperators.size(), static_cast<std::size_t>(Op::clear_border) + 1);
  expect_settings_to_count<Params>(element(), kOperators);
}

TEST_P(SwoFilter, EveryFormat) {
  expect_kernels_result(element(), Case<Params>{"", {}});
  expect_kernels_result(element(), Case<Params>{"operator=open window=7 shape=ellipse",
                                                {.op = Op::open, .window = 7, .shape = "ellipse"}});
  expect_kernels_result(element(), Case<Params>{"operator=thin", {.op = Op::thin}});
  expect_kernels_result(element(),
                        Case<Params>{"operator=h-dome height=9", {.op = Op::h_dome, .height = 9}});
}

TEST_P(SwoFilter, BlackAndWhiteAsGray8) {
  for (const Case<Params> &c : kOperators)
    if (is_binary(c.params.op)) expect_kernels_result(element(), c, true);
}

TEST_P(SwoFilter, OtherResultsAreNotCutDownToGray8) {
  for (const Case<Params> &c : kOperators) {
    if (is_binary(c.params.op)) continue;
    Filter filter(element(c.settings), "video/x-raw, format=GRAY8");
    EXPECT_NE(filter.push_picture(make_picture(GST_VIDEO_FORMAT_GRAY16_LE, 20, 10)), GST_FLOW_OK)
        << c.settings;
  }
}

TEST_P(SwoFilter, AnOperatorThatCannotGiveWhatIsAskedForStopsTheStreamUntilItIsChanged) {
  Filter filter(element("operator=thin"), "video/x-raw, format=GRAY8");
  const Picture in = make_picture(GST_VIDEO_FORMAT_GRAY16_LE, 40, 30);
  const Picture thinned = expected(in, Params{.op = Op::thin}, GST_VIDEO_FORMAT_GRAY8);
  EXPECT_TRUE(same(filter.process(in), thinned));
  gst_util_set_object_arg(G_OBJECT(filter.element()), "operator", "median");
  EXPECT_EQ(filter.push_picture(in), GST_FLOW_NOT_NEGOTIATED);
  gst_util_set_object_arg(G_OBJECT(filter.element()), "operator", "thin");
  EXPECT_TRUE(same(filter.process(in), thinned));
}

TEST_P(SwoFilter, SettingsCount) {
  expect_settings_to_count<Params>(
      element(),
      {{"window=7", {.window = 7}},
       {"window=5 window-width=11", {.window = 5, .window_width = 11}},
       {"window-height=1", {.window_height = 1}},
       {"window=9 shape=cross", {.window = 9, .shape = "cross"}},
       {"operator=open window=9 shape=octagon", {.op = Op::open, .window = 9, .shape = "octagon"}},
       {"operator=close window-width=9 window-height=7 shape=hexagon",
        {.op = Op::close, .window_width = 9, .window_height = 7, .shape = "hexagon"}},
       {"operator=dilate shape=\"100;010;001\"", {.op = Op::dilate, .shape = "100;010;001"}},
       {"operator=hit-or-miss shape=\"1-1;-0-;1-1 111;000;---\"",
        {.op = Op::hit_or_miss, .shape = "1-1;-0-;1-1 111;000;---"}},
       {"window=9 border=replicate", {.window = 9, .border = Border::replicate}},
       {"window=9 border=reflect", {.window = 9, .border = Border::reflect}},
       {"operator=max window=9 border=constant border-value=200",
        {.op = Op::maximum, .window = 9, .border = Border::constant, .border_value = 200}},
       {"operator=recursive-dilate border=constant border-value=200",
        {.op = Op::recursive_dilate, .border = Border::constant, .border_value = 200}},
       {"operator=rank percentile=99.5 window=15",
        {.op = Op::rank, .window = 15, .percentile = 99.5}},
       {"operator=thin iterations=2", {.op = Op::thin, .iterations = 2}},
       {"operator=thin thinning=guo-hall", {.op = Op::thin, .thinning = Thinning::guo_hall}},
       {"operator=thicken thinning=templates",
        {.op = Op::thicken, .thinning = Thinning::templates}},
       {"operator=thin thinning=templates shape=\"000;-1-;111\"",
        {.op = Op::thin, .shape = "000;-1-;111", .thinning = Thinning::templates}},
       {"operator=reconstruct marker=border",
        {.op = Op::reconstruct, .marker = SwoFilterMarker::border}},
       {"operator=geodesic-erode height=5 connectivity=4",
        {.op = Op::geodesic_erode, .height = 5, .connectivity = 4}},
       {"window=5 algorithm=naive", {.window = 5, .algorithm = SwoFilterAlgorithm::naive}},
       {"n-threads=3", {}}});
}

TEST_P(SwoFilter, ChangesTakeEffectWithTheNextFrame) {
  expect_changes_to_count<Params>(
      element(),
      {{"window", "5", [](Params &p) { p.window = 5; }},
       {"operator", "dilate", [](Params &p) { p.op = Op::dilate; }},
       {"shape", "ellipse", [](Params &p) { p.shape = "ellipse"; }},
       {"window-height", "9", [](Params &p) { p.window_height = 9; }},
       {"window-width", "3", [](Params &p) { p.window_width = 3; }},
       {"border", "constant", [](Params &p) { p.border = Border::constant; }},
       {"border-value", "77", [](Params &p) { p.border_value = 77; }},
       {"shape", "110;010;000", [](Params &p) { p.shape = "110;010;000"; }},
       {"operator", "hit-or-miss", [](Params &p) { p.op = Op::hit_or_miss; }},
       {"shape", "11-;-1-;-0-", [](Params &p) { p.shape = "11-;-1-;-0-"; }},
       {"operator", "thin", [](Params &p) { p.op = Op::thin; }},
       {"thinning", "guo-hall", [](Params &p) { p.thinning = Thinning::guo_hall; }},
       {"iterations", "1", [](Params &p) { p.iterations = 1; }},
       {"shape", "rectangle", [](Params &p) { p.shape = "rectangle"; }},
       {"operator", "geodesic-dilate", [](Params &p) { p.op = Op::geodesic_dilate; }},
       {"height", "7", [](Params &p) { p.height = 7; }},
       {"connectivity", "4", [](Params &p) { p.connectivity = 4; }},
       {"iterations", "0", [](Params &p) { p.iterations = 0; }},
       {"marker", "border", [](Params &p) { p.marker = SwoFilterMarker::border; }},
       {"operator", "rank", [](Params &p) { p.op = Op::rank; }},
       {"percentile", "75", [](Params &p) { p.percentile = 75; }},
       {"algorithm", "naive", [](Params &p) { p.algorithm = SwoFilterAlgorithm::naive; }},
       {"operator", "alpha-trimmed-mean", [](Params &p) { p.op = Op::alpha_trimmed_mean; }},
       {"alpha", "0.4", [](Params &p) { p.alpha = 0.4; }}});
}

TEST_P(SwoFilter, SettingsThatMakeNoSense) {
  expect_refusals(
      element(),
      {{{{"window", "4"}}, {"window = 4", "odd", "1 to 255", "for instance 5"}},
       {{{"window", "0"}}, {"window = 0", "odd", "1 to 255"}},
       {{{"window-width", "257"}}, {"window-width = 257", "odd", "1 to 255"}},
       {{{"window-height", "-1"}}, {"window-height = -1", "odd", "1 to 255"}},
       {{{"shape", "disc"}}, {"shape = \"disc\"", "rectangle, ellipse, cross"}},
       {{{"shape", "11;11"}}, {"shape = \"11;11\"", "odd number"}},
       {{{"shape", "0-0"}}, {"shape = \"0-0\"", "only hit-or-miss and templates"}},
       {{{"operator", "thin"}, {"thinning", "templates"}, {"shape", "111"}},
        {"shape = \"111\"", "three rows of three cells"}},
       {{{"border-value", "-1"}}, {"border-value = -1", "0 to 65535"}},
       {{{"border-value", "256"}, {"border", "constant"}}, {"border-value = 256", "0 to 255"}},
       {{{"percentile", "101"}}, {"percentile = 101", "0 to 100"}},
       {{{"percentile", "nan"}}, {"percentile = nan", "0 to 100"}},
       {{{"alpha", "0.6"}}, {"alpha = 0.6", "0 to 0.5"}},
       {{{"iterations", "-2"}}, {"iterations = -2", "until nothing changes"}},
       {{{"height", "65536"}}, {"height = 65536", "0 to 65535"}},
       {{{"connectivity", "6"}}, {"connectivity = 6", "4 or 8"}},
       {{{"operator", "recursive-erode"}, {"border", "replicate"}},
        {"border = replicate", "clip or constant"}}});
}

// ---- The report ------------------------------------------------------------------------------

TEST_P(SwoFilter, ReportsAreWhatTheKernelsMeasure) {
  const Case<Params> cases[] = {
      {"", {}},
      {"operator=thin", {.op = Op::thin}},
      {"operator=thin iterations=1", {.op = Op::thin, .iterations = 1}},
      {"operator=thicken thinning=guo-hall", {.op = Op::thicken, .thinning = Thinning::guo_hall}},
      {"operator=geodesic-dilate iterations=5", {.op = Op::geodesic_dilate, .iterations = 5}},
      {"operator=fill-holes", {.op = Op::fill_holes}}};
  for (const auto &[settings, params] : cases)
    for (const GstVideoFormat format :
         {GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_P010_10LE}) {
      SCOPED_TRACE(settings);
      Filter filter(element(std::string("report=message+meta ") + settings));
      const Picture in = make_picture(format, 101, 47);
      SwoFilterReport measured;
      const Picture wanted = expected(in, params, GST_VIDEO_FORMAT_UNKNOWN, &measured);
      ASSERT_EQ(filter.push_picture(in), GST_FLOW_OK);
      Ref<GstBuffer> out = filter.pull();
      EXPECT_TRUE(same(to_picture(out.get(), filter.output_caps().get()), wanted));
      const auto iterations = [](const GstStructure *fields) {
        int n = -1;
        EXPECT_TRUE(gst_structure_get_int(fields, "iterations", &n));
        return n;
      };
      Ref<GstMessage> message = filter.pop(GST_MESSAGE_ELEMENT);
      ASSERT_TRUE(message);
      EXPECT_TRUE(gst_message_has_name(message.get(), "cudaswofilter"));
      EXPECT_EQ(iterations(gst_message_get_structure(message.get())), measured.iterations);
      GstCustomMeta *meta = gst_buffer_get_custom_meta(out.get(), "cudascan-result");
      ASSERT_TRUE(meta);
      EXPECT_EQ(iterations(gst_custom_meta_get_structure(meta)), measured.iterations);
    }
}

/// A white bar on black, `side` pixels wide.
Picture bar(int side) {
  Picture p = flat(GST_VIDEO_FORMAT_GRAY8, 0);
  p.width = 40, p.height = 40;
  p.components[0].assign(std::size_t{40} * 40, 0);
  for (int y = 5; y < 35; ++y)
    for (int x = 10; x < 10 + side; ++x) p.components[0][std::size_t(y) * 40 + x] = 255;
  return p;
}

TEST_P(SwoFilter, WiderThingsTakeMorePassesToThin) {
  int last = 0;
  for (const int side : {1, 5, 11, 19}) {
    Filter filter(element("operator=thin report=message"));
    ASSERT_EQ(filter.push_picture(bar(side)), GST_FLOW_OK);
    Ref<GstMessage> message = filter.pop(GST_MESSAGE_ELEMENT);
    ASSERT_TRUE(message);
    int passes = 0;
    EXPECT_TRUE(
        gst_structure_get_int(gst_message_get_structure(message.get()), "iterations", &passes));
    EXPECT_GT(passes, last) << side;
    last = passes;
  }
}

}  // namespace
}  // namespace cudascan::elements
