// SPDX-License-Identifier: LGPL-2.1-or-later
// Properties: defaults, changes while frames flow, control sources, and wrong settings.
#include <gst/controller/controller.h>

#include <atomic>
#include <cmath>
#include <thread>

#include "tests/elements/support.h"

namespace cudascan::elements {
namespace {

Picture page(GstVideoFormat format = GST_VIDEO_FORMAT_GRAY8) {
  return make_picture(format, 90, 60);
}

class Properties : public BackendTest {};
INSTANTIATE_BACKENDS(Properties);

TEST(PropertyDefaults, AreThoseOfTheParameters) {
  Filter filter("cudanick");
  const NickParams defaults;
  EXPECT_EQ(filter.get_string("backend"), "auto");
  EXPECT_EQ(filter.get_string("cuda-device-id"), "-1");
  EXPECT_EQ(filter.get_string("n-threads"), "0");
  EXPECT_EQ(filter.get_string("qos"), "true");
  EXPECT_EQ(filter.get_string("method"), "nick");
  EXPECT_EQ(filter.get_string("window"), std::to_string(defaults.window));
  EXPECT_EQ(filter.get_string("window-width"), "0");
  EXPECT_EQ(filter.get_string("window-height"), "0");
  EXPECT_EQ(std::stod(filter.get_string("k")), k_in_use(defaults));
  EXPECT_EQ(std::stod(filter.get_string("r")), defaults.r);
  EXPECT_EQ(filter.get_string("invert"), "false");
  EXPECT_EQ(filter.get_string("output"), "binary");
  EXPECT_EQ(filter.get_string("algorithm"), "auto");
  guint report = 1;
  g_object_get(filter.element(), "report", &report, nullptr);
  EXPECT_EQ(report, 0u);
}

TEST(PropertyDefaults, KIsTheMethodsOwnUntilItIsSet) {
  Filter filter("cudanick");
  const std::pair<const char *, NickMethod> methods[] = {
      {"nick", NickMethod::nick},       {"niblack", NickMethod::niblack},
      {"sauvola", NickMethod::sauvola}, {"wolf", NickMethod::wolf},
      {"bradley", NickMethod::bradley}, {"phansalkar", NickMethod::phansalkar}};
  const auto k = [&] {
    double value = 0;
    g_object_get(filter.element(), "k", &value, nullptr);
    return value;
  };
  for (const auto &[name, method] : methods) {
    gst_util_set_object_arg(G_OBJECT(filter.element()), "method", name);
    EXPECT_EQ(filter.get_string("method"), name);
    EXPECT_EQ(k(), nick_default_k(method)) << name;
  }
  g_object_set(filter.element(), "k", 0.25, nullptr);
  for (const auto &[name, method] : methods) {
    gst_util_set_object_arg(G_OBJECT(filter.element()), "method", name);
    EXPECT_EQ(k(), 0.25) << name;
  }
}

/// What the element tells that its result depends on.
std::string in_use(GstElement *element) {
  g_auto(GStrv) names = nullptr;
  g_object_get(element, "settings-in-use", &names, nullptr);
  g_autofree char *text = g_strjoinv(" ", names);
  return text;
}

TEST(SettingsInUse, AreThoseOfTheMethodAndTheOperator) {
  for (const auto &[launch, names] : std::initializer_list<std::pair<const char *, const char *>>{
           {"cudanick", "method window window-width window-height k invert output"},
           {"cudanick method=sauvola",
            "method window window-width window-height k r invert output"},
           {"cudanick window-width=9 window-height=9 output=threshold",
            "method window-width window-height k output"},
           {"cudaequalize", "method formula amount smoothing roi roi-from"},
           {"cudaequalize method=clahe", "method clip-limit tiles-x tiles-y amount"},
           {"cudaautothreshold method=yen apply=false",
            "method apply offset smoothing hysteresis ignore-black ignore-white roi roi-from"},
           {"cudaautothreshold classes=3",
            "method classes apply invert offset ignore-black ignore-white roi roi-from"},
           {"cudalinearopen", "operation length angle directions output lines"},
           {"cudalinearopen directions=2", "operation length angle directions span output lines"},
           {"cudabinarize", "level invert output smoothing roi roi-from"},
           {"cudaswofilter", "operator window window-width window-height shape border"},
           {"cudaswofilter operator=rank border=constant",
            "operator percentile window window-width window-height shape border border-value"},
           {"cudaswofilter shape=010;111;010", "operator shape border"},
           {"cudaswofilter operator=thin thinning=templates", "operator thinning shape iterations"},
           {"cudaswofilter operator=reconstruct", "operator marker height connectivity iterations"},
           {"cudaswofilter operator=fill-holes", "operator connectivity iterations"},
           {"cudaswofilter expression=p.max()",
            "operator expression source params window window-width window-height shape border"},
           {"cudaswofilter source=mine.cpp",
            "operator expression source function reload params window window-width window-height "
            "shape border"}}) {
    Ref<GstElement> element(gst_parse_launch(launch, nullptr));
    ASSERT_TRUE(element);
    gst_object_ref_sink(element.get());
    EXPECT_EQ(in_use(element.get()), names) << launch;
  }
}

TEST(SettingsInUse, NotifyWhenTheyChange) {
  Filter filter("cudanick");
  int notified = 0;
  g_signal_connect(filter.element(), "notify::settings-in-use",
                   G_CALLBACK(+[](GObject *, GParamSpec *, int *n) { ++*n; }), &notified);
  gst_util_set_object_arg(G_OBJECT(filter.element()), "method", "wolf");
  EXPECT_EQ(notified, 0);
  gst_util_set_object_arg(G_OBJECT(filter.element()), "method", "sauvola");
  EXPECT_EQ(notified, 1);
}

TEST_P(Properties, ChangesTakeEffectWithTheNextFrame) {
  Filter filter(nick("window=15"));
  GObject *element = G_OBJECT(filter.element());
  NickParams params;
  params.window = 15;
  const Picture in = page();
  const auto check = [&](const char *what) {
    EXPECT_TRUE(same(filter.process(in), expected(in, params))) << "after a change of " << what;
  };
  check("nothing");
  g_object_set(element, "window", params.window = 31, nullptr);
  check("window");
  params.k = -0.17;
  g_object_set(element, "k", *params.k, nullptr);
  check("k");
  params.invert = true;
  g_object_set(element, "invert", TRUE, nullptr);
  check("invert");
  params.method = NickMethod::sauvola;
  gst_util_set_object_arg(element, "method", "sauvola");
  check("method");
  params.r = 77.5;
  g_object_set(element, "r", params.r, nullptr);
  check("r");
  params.window_width = 9;
  g_object_set(element, "window-width", 9, nullptr);
  check("window-width");
  params.window_height = 45;
  g_object_set(element, "window-height", 45, nullptr);
  check("window-height");
  params.output = NickOutput::threshold;
  gst_util_set_object_arg(element, "output", "threshold");
  check("output");
  params.output = NickOutput::binary;
  gst_util_set_object_arg(element, "output", "binary");
  check("output back");
  g_object_set(element, "window-width", params.window_width = 0, "window-height",
               params.window_height = 0, "window", params.window = 11, nullptr);
  gst_util_set_object_arg(element, "algorithm", "shared");
  check("algorithm");
}

TEST_P(Properties, OneFrameSeesOneSetOfSettings) {
  Filter filter(nick("window=15"));
  NickParams a, b;
  a.window = 15, b.window = 51;
  const Picture in = page(), first = expected(in, a), second = expected(in, b);
  std::atomic<bool> stop = false;
  std::thread turner([&] {
    for (int i = 0; !stop; ++i) {
      g_object_set(filter.element(), "window", i % 2 ? 15 : 51, nullptr);
      g_autofree char *name = nullptr;
      double k = 0;
      GstStructure *stats = nullptr;
      g_object_get(filter.element(), "name", &name, "k", &k, "stats", &stats, nullptr);
      gst_structure_free(stats);
    }
  });
  for (int i = 0; i < 150; ++i) {
    const Picture out = filter.process(in);
    EXPECT_TRUE(same(out, first) || same(out, second)) << "frame " << i;
  }
  stop = true;
  turner.join();
}

/// Binds a property to points in stream time.
void control(GstElement *element, const char *property, GstInterpolationMode mode,
             std::initializer_list<std::pair<GstClockTime, double>> points) {
  GstControlSource *source = gst_interpolation_control_source_new();
  g_object_set(source, "mode", mode, nullptr);
  for (const auto &[time, value] : points)
    gst_timed_value_control_source_set(GST_TIMED_VALUE_CONTROL_SOURCE(source), time, value);
  GstControlBinding *binding =
      gst_direct_control_binding_new_absolute(GST_OBJECT(element), property, source);
  EXPECT_TRUE(gst_object_add_control_binding(GST_OBJECT(element), binding));
  gst_object_unref(source);
}

TEST_P(Properties, ControlSourcesFollowTheStreamTimeOfTheFrame) {
  Filter filter(nick());
  control(filter.element(), "k", GST_INTERPOLATION_MODE_LINEAR,
          {{0, -0.2}, {10 * GST_SECOND, 0.0}});
  control(filter.element(), "window", GST_INTERPOLATION_MODE_NONE,
          {{0, 15}, {4 * GST_SECOND, 31}, {8 * GST_SECOND, 63}});
  const Picture in = page();
  filter.set_caps(make_caps(in).get());
  // Timestamps begin at 100 s, the stream at 2 s: only the stream time gives the right settings.
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.start = segment.position = 100 * GST_SECOND;
  segment.time = 2 * GST_SECOND;
  gst_harness_push_event(filter.harness(), gst_event_new_segment(&segment));
  for (int second = 0; second < 8; ++second) {
    Ref<GstBuffer> buffer = to_buffer(in);
    GST_BUFFER_PTS(buffer.get()) = segment.start + second * GST_SECOND;
    ASSERT_EQ(filter.push(std::move(buffer)), GST_FLOW_OK);
    const GstClockTime stream_time = segment.time + second * GST_SECOND;
    GValue *k = gst_object_get_value(GST_OBJECT(filter.element()), "k", stream_time);
    ASSERT_NE(k, nullptr);
    NickParams params;
    params.k = g_value_get_double(k);
    EXPECT_NEAR(*params.k, -0.2 + 0.02 * (second + 2), 1e-9);
    params.window = stream_time < 4 * GST_SECOND ? 15 : stream_time < 8 * GST_SECOND ? 31 : 63;
    g_value_unset(k);
    g_free(k);
    EXPECT_TRUE(
        same(to_picture(filter.pull().get(), filter.output_caps().get()), expected(in, params)))
        << "at second " << second;
  }
}

/// They need a range to relate to.
TEST(PropertyRanges, ControlSourcesMayBeRelative) {
  Filter filter("cudanick");
  for (const char *property : {"window", "k"}) {
    GstControlSource *source = gst_interpolation_control_source_new();
    auto *points = GST_TIMED_VALUE_CONTROL_SOURCE(source);
    gst_timed_value_control_source_set(points, 0, 0);
    gst_timed_value_control_source_set(points, GST_SECOND, 1);
    GstObject *element = GST_OBJECT(filter.element());
    EXPECT_TRUE(gst_object_add_control_binding(
        element, gst_direct_control_binding_new(element, property, source)));
    gst_object_unref(source);
  }
  gst_object_sync_values(GST_OBJECT(filter.element()), 0);
  EXPECT_EQ(filter.get_string("window"), "3");
  EXPECT_EQ(filter.get_string("k"), "-2");
  gst_object_sync_values(GST_OBJECT(filter.element()), GST_SECOND);
  EXPECT_EQ(filter.get_string("window"), "1023");
  EXPECT_EQ(filter.get_string("k"), "2");
}

/// As gst-launch-1.0 sets them.
TEST(PropertyRanges, TextsOutOfRangeReachTheElementToo) {
  Filter filter("cudanick");
  gst_util_set_object_arg(G_OBJECT(filter.element()), "window", "1025");
  gst_util_set_object_arg(G_OBJECT(filter.element()), "k", "-7.5");
  EXPECT_EQ(filter.get_string("window"), "1025");
  EXPECT_EQ(std::stod(filter.get_string("k")), -7.5);
  EXPECT_EQ(filter.push_picture(page()), GST_FLOW_ERROR);
  Ref<GstMessage> message = filter.pop(GST_MESSAGE_ERROR);
  ASSERT_TRUE(message);
  EXPECT_NE(error_text(message.get()).message.find("window = 1025: must be"), std::string::npos);
}

struct Bad {
  const char *property;
  std::function<void(GObject *)> set;
  std::vector<std::string> said;  ///< words that the message must contain: property, value, remedy
};

std::function<void(GObject *)> integer(const char *name, int value) {
  return [=](GObject *element) { g_object_set(element, name, value, nullptr); };
}

std::function<void(GObject *)> real(const char *name, double value) {
  return [=](GObject *element) { g_object_set(element, name, value, nullptr); };
}

std::vector<Bad> bad_settings() {
  return {{"window", integer("window", 4), {"window", "4", "odd"}},
          {"window", integer("window", 0), {"window", "0", "odd", "3"}},
          {"window", integer("window", 1), {"window", "1", "3"}},
          {"window", integer("window", -7), {"window", "-7", "3"}},
          {"window", integer("window", 1025), {"window", "1025", "1023"}},
          {"window-width", integer("window-width", 8), {"window-width", "8", "odd"}},
          {"window-height", integer("window-height", 2), {"window-height", "2", "odd"}},
          {"window-height", integer("window-height", -3), {"window-height", "-3", "odd"}},
          {"k", real("k", std::nan("")), {"k", "nan", "-2"}},
          {"k", real("k", 3), {"k", "3", "2"}},
          {"k", real("k", -HUGE_VAL), {"k", "-inf", "-2"}},
          {"r", real("r", 0), {"r", "0", "1"}},
          {"r", real("r", -5), {"r", "-5", "1"}},
          {"r", real("r", std::nan("")), {"r", "nan", "1"}},
          {"algorithm",
           [](GObject *element) {
             g_object_set(element, "window", 31, nullptr);
             gst_util_set_object_arg(element, "algorithm", "shared");
           },
           {"algorithm", "shared", "31", "15"}}};
}

TEST_P(Properties, ASettingThatMakesNoSenseIsAnErrorThatSaysWhatWouldBeRight) {
  for (const Bad &bad : bad_settings())
    for (bool playing : {false, true}) {
      SCOPED_TRACE(std::string(bad.property) + " = " + bad.said[1] +
                   (playing ? ", while playing" : ", from the start"));
      Filter filter(nick());
      if (playing) {
        EXPECT_TRUE(same(filter.process(page()), expected(page(), NickParams{})));
      }
      bad.set(G_OBJECT(filter.element()));
      EXPECT_EQ(filter.push_picture(page()), GST_FLOW_ERROR);
      Ref<GstMessage> message = filter.pop(GST_MESSAGE_ERROR);
      EXPECT_TRUE(message) << "no error message";
      if (!message) continue;
      EXPECT_EQ(GST_MESSAGE_SRC(message.get()), GST_OBJECT(filter.element()));
      const std::string text = error_text(message.get()).message;
      for (const std::string &word : bad.said)
        EXPECT_NE(text.find(word), std::string::npos) << '"' << word << "\" is not in: " << text;
      EXPECT_FALSE(filter.pop(GST_MESSAGE_ERROR)) << "two messages for one mistake";
      EXPECT_EQ(gst_harness_buffers_in_queue(filter.harness()), 0u);
    }
}

TEST_P(Properties, AnElementThatRefusedItsSettingsWorksOnceTheyAreMended) {
  Filter filter(nick());
  g_object_set(filter.element(), "window", 16, nullptr);
  EXPECT_EQ(filter.push_picture(page()), GST_FLOW_ERROR);
  g_object_set(filter.element(), "window", 17, nullptr);
  NickParams params;
  params.window = 17;
  EXPECT_TRUE(same(filter.process(page()), expected(page(), params)));
}

/// No machine has this number of cores, and no process has memory for their stacks.
TEST_P(Properties, AnyNumberOfThreadsWillDo) {
  const Picture in = make_picture(GST_VIDEO_FORMAT_GRAY8, 64, 300);
  Filter filter(nick("n-threads=4294967295"));
  EXPECT_TRUE(same(filter.process(in), expected(in, NickParams{})));
  for (const guint n : {1u, 10'000'000u, 0u, 2147483648u, 3u, G_MAXUINT}) {
    g_object_set(filter.element(), "n-threads", n, nullptr);
    EXPECT_TRUE(same(filter.process(in), expected(in, NickParams{}))) << n;
    EXPECT_EQ(filter.get_string("n-threads"), std::to_string(n));
  }
}

TEST_P(Properties, AnUnusedSettingIsStillReadBackAsItWasWritten) {
  Filter filter(nick());
  g_object_set(filter.element(), "window", 16, "k", 1.5, "r", 2000.0, nullptr);
  EXPECT_EQ(filter.get_string("window"), "16") << "the value was rounded";
  EXPECT_EQ(std::stod(filter.get_string("k")), 1.5);
  EXPECT_EQ(std::stod(filter.get_string("r")), 2000.0);
}

TEST_P(Properties, ActiveBackendSaysWhatRunsAndNotifies) {
  Filter filter(nick());
  std::atomic<int> notified = 0;
  g_signal_connect(filter.element(), "notify::active-backend",
                   G_CALLBACK(+[](GObject *, GParamSpec *, gpointer count) {
                     ++*static_cast<std::atomic<int> *>(count);
                   }),
                   &notified);
  filter.process(page());
  EXPECT_EQ(filter.get_string("active-backend"), GetParam());
  g_signal_handlers_disconnect_by_data(filter.element(), &notified);
}

}  // namespace
}  // namespace cudascan::elements
