// SPDX-License-Identifier: LGPL-2.1-or-later
// What gst-inspect-1.0 shows: the plugin, its elements, their properties.
#include <gst/base/gstbasetransform.h>

#include <cmath>
#include <regex>
#include <set>

#include "tests/elements/expectations.h"  // the files of operators; from meson.build
#include "tests/elements/support.h"

namespace cudascan::elements {
namespace {

/// The operators of the build, as element names.
std::set<std::string> operators() {
#define NAME(op, Name) "cuda" #op,
  return {CUDASCAN_OPERATORS(NAME)};
}

/// Calls `visit` with an element of every factory of the plugin.
template <typename Visit>
void for_each_element(Visit visit) {
  for (const std::string &name : operators()) {
    SCOPED_TRACE(name);
    Ref<GstElement> element(gst_element_factory_make(name.c_str(), nullptr));
    ASSERT_TRUE(element);
    gst_object_ref_sink(element.get());
    visit(element.get());
  }
}

/// The properties that the plugin's own types add.
std::vector<GParamSpec *> own_properties(GstElement *element) {
  guint n = 0;
  g_autofree GParamSpec **specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(element), &n);
  std::vector<GParamSpec *> own;
  for (guint i = 0; i < n; ++i)
    if (!g_type_is_a(GST_TYPE_BASE_TRANSFORM, specs[i]->owner_type)) own.push_back(specs[i]);
  return own;
}

TEST(Plugin, OffersTheListOfOperatorsAndNothingElse) {
  GstPlugin *plugin = gst_registry_find_plugin(gst_registry_get(), "cudascan");
  ASSERT_TRUE(plugin);
  EXPECT_STREQ(gst_plugin_get_license(plugin), "LGPL");
  EXPECT_STRNE(gst_plugin_get_description(plugin), "");
  EXPECT_STRNE(gst_plugin_get_version(plugin), "");
  std::set<std::string> names;
  GList *features = gst_registry_get_feature_list_by_plugin(gst_registry_get(), "cudascan");
  for (GList *item = features; item; item = item->next) names.insert(GST_OBJECT_NAME(item->data));
  gst_plugin_feature_list_free(features);
  gst_object_unref(plugin);
  EXPECT_EQ(names, operators());
}

TEST(Plugin, ElementsAreDescribedAndAreNotPluggedByThemselves) {
  for_each_element([](GstElement *element) {
    GstElementFactory *factory = gst_element_get_factory(element);
    EXPECT_EQ(gst_plugin_feature_get_rank(GST_PLUGIN_FEATURE(factory)), guint{GST_RANK_NONE});
    const auto text = [&](const char *key) {
      const char *value = gst_element_factory_get_metadata(factory, key);
      return std::string(value ? value : "");
    };
    EXPECT_EQ(text(GST_ELEMENT_METADATA_KLASS), "Filter/Effect/Video/Hardware");
    EXPECT_NE(text(GST_ELEMENT_METADATA_LONGNAME), "");
    EXPECT_NE(text(GST_ELEMENT_METADATA_DESCRIPTION), "");
    EXPECT_NE(text(GST_ELEMENT_METADATA_AUTHOR), "");
    const std::string type = G_OBJECT_TYPE_NAME(element);
    EXPECT_EQ(type.rfind("GstCuda", 0), 0u) << type;
  });
}

TEST(Plugin, EveryElementHasTheCommonProperties) {
  for_each_element([](GstElement *element) {
    for (const char *name : {"backend", "active-backend", "cuda-device-id", "n-threads", "report",
                             "stats", "qos", "significant-bits", "bit-alignment",
                             "active-significant-bits", "active-bit-alignment", "settings-in-use"})
      EXPECT_TRUE(g_object_class_find_property(G_OBJECT_GET_CLASS(element), name)) << name;
  });
}

TEST(Plugin, EveryPropertyIsDocumented) {
  for_each_element([](GstElement *element) {
    for (GParamSpec *spec : own_properties(element)) {
      SCOPED_TRACE(spec->name);
      const char *blurb = g_param_spec_get_blurb(spec);
      ASSERT_TRUE(blurb);
      EXPECT_GT(std::string(blurb).size(), 10u);
      EXPECT_STRNE(g_param_spec_get_nick(spec), "");
      EXPECT_EQ(std::string(spec->name).find('_'), std::string::npos);
      if (spec->flags & G_PARAM_WRITABLE) {
        EXPECT_TRUE(spec->flags & (GST_PARAM_MUTABLE_READY | GST_PARAM_MUTABLE_PAUSED |
                                   GST_PARAM_MUTABLE_PLAYING))
            << "it does not say when it can be changed";
      }
      if (G_IS_PARAM_SPEC_ENUM(spec) || G_IS_PARAM_SPEC_FLAGS(spec)) {
        EXPECT_TRUE(gst_type_is_plugin_api(spec->value_type, nullptr));
      }
    }
  });
}

TEST(Plugin, ReadOnlyPropertiesCannotBeWritten) {
  for_each_element([](GstElement *element) {
    for (const char *name : {"active-backend", "active-significant-bits", "active-bit-alignment",
                             "stats", "settings-in-use", "threshold"}) {
      GParamSpec *spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element), name);
      if (!spec && std::string(name) == "threshold") continue;  // of cudaautothreshold alone
      ASSERT_TRUE(spec);
      EXPECT_TRUE(spec->flags & G_PARAM_READABLE) << name;
      EXPECT_FALSE(spec->flags & G_PARAM_WRITABLE) << name;
    }
  });
}

Ref<GstElement> make(const char *name) {
  Ref<GstElement> element(gst_element_factory_make(name, nullptr));
  gst_object_ref_sink(element.get());
  return element;
}

TEST(Plugin, EnumsHaveTheNamesOfTheContract) {
  struct {
    const char *element, *property;
    std::vector<std::string> nicks;
  } const enums[] = {
      {"cudanick", "backend", {"auto", "cuda", "cpu"}},
      {"cudanick",
       "significant-bits",
       {"auto", "8", "9", "10", "11", "12", "13", "14", "15", "16"}},
      {"cudanick", "bit-alignment", {"auto", "low", "high"}},
      {"cudabinarize", "roi-from", {"none", "crop", "meta"}},
      {"cudanick", "method", {"nick", "niblack", "sauvola", "wolf", "bradley", "phansalkar"}},
      {"cudanick", "output", {"binary", "threshold"}},
      {"cudanick", "algorithm", {"auto", "global", "global-shared", "shared"}},
      {"cudaequalize", "method", {"global", "clahe"}},
      {"cudaequalize", "formula", {"opencv", "cdf"}},
      {"cudaequalize", "algorithm", {"auto", "naive", "shared"}},
      {"cudaautothreshold",
       "method",
       {"otsu", "isodata", "mcet", "triangle", "max-entropy", "yen", "li", "minimum", "intermodes",
        "moments", "huang", "renyi-entropy", "shanbhag", "percentile", "mean"}},
      {"cudaautothreshold", "algorithm", {"auto", "prahara"}},
      {"cudabinarize", "level", {"fast", "sized", "full"}},
      {"cudabinarize", "invert", {"auto", "on", "off"}},
      {"cudabinarize", "output", {"binary", "darkness"}},
      {"cudalinearopen", "operation", {"opening", "closing", "top-hat", "black-hat"}},
      {"cudalinearopen", "output", {"filtered", "orientation"}},
      {"cudalinearopen", "lines", {"partition", "invariant"}},
      {"cudalinearopen", "algorithm", {"auto", "bartovsky", "morard", "bartovsky-zones"}},
      {"cudaswofilter",
       "operator",
       {"min",
        "max",
        "mean",
        "median",
        "midpoint",
        "alpha-trimmed-mean",
        "standard-deviation",
        "mode",
        "directional-median",
        "rank",
        "erode",
        "dilate",
        "open",
        "close",
        "gradient",
        "top-hat",
        "black-hat",
        "hit-or-miss",
        "thin",
        "thicken",
        "recursive-erode",
        "recursive-dilate",
        "geodesic-erode",
        "geodesic-dilate",
        "reconstruct",
        "h-dome",
        "h-basin",
        "fill-holes",
        "clear-border",
        "custom"}},
      {"cudaswofilter", "border", {"clip", "replicate", "reflect", "constant"}},
      {"cudaswofilter", "thinning", {"zhang-suen", "guo-hall", "templates"}},
      {"cudaswofilter", "marker", {"shifted", "border"}},
      {"cudaswofilter", "reads", {"auto", "global", "shared", "texture"}},
      {"cudaswofilter", "algorithm", {"auto", "naive"}}};
  for (const auto &[name, property, nicks] : enums) {
    SCOPED_TRACE(std::string(name) + " " + property);
    Ref<GstElement> element = make(name);
    GParamSpec *spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element.get()), property);
    ASSERT_TRUE(spec && G_IS_PARAM_SPEC_ENUM(spec));
    GEnumClass *values = G_PARAM_SPEC_ENUM(spec)->enum_class;
    EXPECT_EQ(values->n_values, nicks.size());
    for (const std::string &nick : nicks)
      EXPECT_TRUE(g_enum_get_value_by_nick(values, nick.c_str())) << nick;
  }
  Ref<GstElement> element = make("cudanick");
  GParamSpec *report = g_object_class_find_property(G_OBJECT_GET_CLASS(element.get()), "report");
  ASSERT_TRUE(report && G_IS_PARAM_SPEC_FLAGS(report));
  for (const char *nick : {"message", "meta", "analytics"})
    EXPECT_TRUE(g_flags_get_value_by_nick(G_PARAM_SPEC_FLAGS(report)->flags_class, nick)) << nick;
}

/// The names of the properties with all of these flags.
std::set<std::string> names_of(const std::vector<GParamSpec *> &specs, int flags) {
  std::set<std::string> names;
  for (const GParamSpec *spec : specs)
    if ((spec->flags & flags) == flags) names.insert(spec->name);
  return names;
}

/// All settings of the element, and of the common ones those that may change at any time, can be
/// controlled.
/// @param settings  the element's own settings; empty: any
void expect_controllable(const char *name, std::set<std::string> settings) {
  SCOPED_TRACE(name);
  Ref<GstElement> element = make(name);
  const std::vector<GParamSpec *> all = own_properties(element.get());
  std::vector<GParamSpec *> own;
  for (GParamSpec *spec : all)
    if (spec->owner_type == G_OBJECT_TYPE(element.get())) own.push_back(spec);
  if (settings.empty()) settings = names_of(own, G_PARAM_WRITABLE);
  EXPECT_FALSE(settings.empty());
  EXPECT_EQ(names_of(own, G_PARAM_WRITABLE), settings);
  settings.insert({"n-threads", "report", "significant-bits", "bit-alignment"});
  EXPECT_EQ(names_of(all, GST_PARAM_CONTROLLABLE), settings);
  EXPECT_EQ(names_of(all, GST_PARAM_CONTROLLABLE | GST_PARAM_MUTABLE_PLAYING), settings);
}

TEST(Plugin, SettingsOfTheMethodAreControllable) {
#define EXPECT_CONTROLLABLE(op, Name) expect_controllable("cuda" #op, settings_of(Name##Params{}));
  CUDASCAN_OPERATORS(EXPECT_CONTROLLABLE)
}

TEST(Plugin, SettingsOfTheMethodSayTheirUnit) {
  struct {
    const char *element, *property, *unit;
  } const settings[] = {{"cudanick", "window", "pixel"},
                        {"cudanick", "window-width", "pixel"},
                        {"cudanick", "window-height", "pixel"},
                        {"cudanick", "r", "level"},
                        {"cudaequalize", "clip-limit", "times the mean"},
                        {"cudaequalize", "tiles-x", "tiles"},
                        {"cudaequalize", "tiles-y", "tiles"},
                        {"cudaequalize", "amount", "0 to 1"},
                        {"cudaequalize", "smoothing", "0 to 0.999"},
                        {"cudaequalize", "roi", "pixel"},
                        {"cudaautothreshold", "offset", "evels"},
                        {"cudaautothreshold", "smoothing", "0 to 0.999"},
                        {"cudaautothreshold", "hysteresis", "levels"},
                        {"cudaautothreshold", "ignore-black", "level"},
                        {"cudaautothreshold", "ignore-white", "level"},
                        {"cudaautothreshold", "roi", "pixel"},
                        {"cudabinarize", "smoothing", "0 to 0.999"},
                        {"cudabinarize", "roi", "pixel"},
                        {"cudalinearopen", "length", "Pixels"},
                        {"cudalinearopen", "angle", "Degrees"},
                        {"cudalinearopen", "directions", "1 to 1024"},
                        {"cudalinearopen", "span", "Degrees"},
                        {"cudaswofilter", "window", "pixels, odd, 1 to 255"},
                        {"cudaswofilter", "window-width", "pixels, odd, 1 to 255"},
                        {"cudaswofilter", "window-height", "pixels, odd, 1 to 255"},
                        {"cudaswofilter", "shape", "010;111;010"},
                        {"cudaswofilter", "border-value", "Level"},
                        {"cudaswofilter", "percentile", "100"},
                        {"cudaswofilter", "alpha", "0 to 0.5"},
                        {"cudaswofilter", "iterations", "Passes"},
                        {"cudaswofilter", "height", "Levels"},
                        {"cudaswofilter", "connectivity", "4 or 8"},
                        {"cudaswofilter", "expression", "p.max() - p.min()"},
                        {"cudaswofilter", "source", "trusted"},
                        {"cudaswofilter", "params", "Numbers"},
                        {"cudaswofilter", "cache-dir", "Folder"},
                        {"cudaswofilter", "emit-cuda", "Path"},
                        {"cudaswofilter", "tile-width", "pixels"},
                        {"cudaswofilter", "tile-height", "pixels"},
                        {"cudaswofilter", "chunk-width", "pixels"},
                        {"cudaswofilter", "chunk-height", "pixels"},
                        {"cudaswofilter", "tune", "fastest"}};
  for (const auto &[name, property, unit] : settings) {
    SCOPED_TRACE(std::string(name) + " " + property);
    Ref<GstElement> element = make(name);
    GParamSpec *spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element.get()), property);
    ASSERT_TRUE(spec);
    const std::string blurb = g_param_spec_get_blurb(spec);
    EXPECT_NE(blurb.find(unit), std::string::npos) << blurb;
  }
  const std::regex units(
      "[Pp]ixel|[Ll]evel|[Dd]egree|[Nn]umber of|Threads|Passes|percent|[0-9] to [0-9]");
  for_each_element([&](GstElement *element) {
    for (GParamSpec *spec : own_properties(element))
      if (G_IS_PARAM_SPEC_INT(spec) || G_IS_PARAM_SPEC_UINT(spec) || G_IS_PARAM_SPEC_DOUBLE(spec)) {
        EXPECT_TRUE(std::regex_search(g_param_spec_get_blurb(spec), units)) << spec->name;
      }
  });
}

/// Sets a number and starts the element on the CPU.
/// @return the error; empty if it starts
std::string start_with(const char *factory, const GParamSpec *spec, double number) {
  Ref<GstElement> element = make(factory);
  Ref<GstBus> bus(gst_bus_new());
  gst_element_set_bus(element.get(), bus.get());
  gst_util_set_object_arg(G_OBJECT(element.get()), "backend", "cpu");
  const std::string name = spec->name;
  if (name.starts_with("tile-") || name.starts_with("chunk-"))  // used by custom alone
    g_object_set(element.get(), "expression", "p", nullptr);
  const bool whole = G_IS_PARAM_SPEC_INT(spec);
  if (whole)
    g_object_set(element.get(), spec->name, static_cast<int>(number), nullptr);
  else
    g_object_set(element.get(), spec->name, number, nullptr);
  GValue value = G_VALUE_INIT;
  g_object_get_property(G_OBJECT(element.get()), spec->name, &value);
  EXPECT_EQ(whole ? g_value_get_int(&value) : g_value_get_double(&value), number)
      << "GObject has changed it";
  const bool started =
      gst_element_set_state(element.get(), GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE;
  Ref<GstMessage> error(gst_bus_pop_filtered(bus.get(), GST_MESSAGE_ERROR));
  EXPECT_EQ(started, !error);
  gst_element_set_state(element.get(), GST_STATE_NULL);
  gst_element_set_bus(element.get(), nullptr);
  return error ? error_text(error.get()).message : "";
}

double default_of(const GParamSpec *spec) {
  return G_IS_PARAM_SPEC_INT(spec) ? G_PARAM_SPEC_INT(spec)->default_value
                                   : G_PARAM_SPEC_DOUBLE(spec)->default_value;
}

TEST(Plugin, NumbersHaveTheRangesInWhichTheyAreAccepted) {
  int numbers = 0;
  for_each_element([&](GstElement *element) {
    const char *factory = GST_OBJECT_NAME(gst_element_get_factory(element));
    for (const GParamSpec *spec : own_properties(element)) {
      const bool whole = G_IS_PARAM_SPEC_INT(spec);
      if (!(spec->flags & G_PARAM_WRITABLE) || !(whole || G_IS_PARAM_SPEC_DOUBLE(spec))) continue;
      SCOPED_TRACE(std::string(factory) + " " + spec->name);
      if (start_with(factory, spec, default_of(spec)).find("user code") != std::string::npos)
        continue;  // a build without it
      ++numbers;
      const double least =
          whole ? G_PARAM_SPEC_INT(spec)->minimum : G_PARAM_SPEC_DOUBLE(spec)->minimum;
      const double most =
          whole ? G_PARAM_SPEC_INT(spec)->maximum : G_PARAM_SPEC_DOUBLE(spec)->maximum;
      const auto next = [&](double number, int sign) {
        return whole ? number + sign : std::nextafter(number, sign * HUGE_VAL);
      };
      // Two on either side, as some take only odd numbers.
      std::vector<double> refused{next(least, -1), next(next(least, -1), -1)};
      if (most < G_MAXINT) refused.insert(refused.end(), {next(most, 1), next(next(most, 1), 1)});
      if (!whole) refused.insert(refused.end(), {-HUGE_VAL, HUGE_VAL});
      const bool is_open = std::string(spec->name) == "span";
      if (is_open) refused.push_back(least);
      for (const double number : {is_open ? next(least, 1) : least, most})
        EXPECT_EQ(start_with(factory, spec, number), "") << number;
      for (const double number : refused) {
        const std::string error = start_with(factory, spec, number);
        EXPECT_EQ(error.find(spec->name + std::string(" = ")), 0u) << number << ": " << error;
        EXPECT_NE(error.find(": must be "), std::string::npos) << number << ": " << error;
      }
    }
  });
  EXPECT_GT(numbers, 30);
}

TEST(Plugin, GstInspectShowsEveryElement) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "gst-inspect-1.0 cannot load a plugin that was built with a sanitizer";
#endif
  g_autofree char *inspect = g_find_program_in_path("gst-inspect-1.0");
  if (!inspect) GTEST_SKIP() << "gst-inspect-1.0 is not installed";
  std::set<std::string> pages = operators();
  pages.insert("cudascan");
  for (const std::string &page : pages) {
    const char *argv[] = {inspect, page.c_str(), nullptr};
    g_autofree char *out = nullptr, *err = nullptr;
    int status = -1;
    ASSERT_TRUE(g_spawn_sync(nullptr, const_cast<char **>(argv), nullptr, G_SPAWN_DEFAULT, nullptr,
                             nullptr, &out, &err, &status, nullptr));
    EXPECT_TRUE(g_spawn_check_wait_status(status, nullptr)) << page;
    EXPECT_EQ(std::string(err).find("CRITICAL"), std::string::npos) << err;
    EXPECT_EQ(std::string(err).find("WARNING"), std::string::npos) << err;
    EXPECT_NE(std::string(out).find(page), std::string::npos) << out;
  }
}

}  // namespace
}  // namespace cudascan::elements
