// SPDX-License-Identifier: LGPL-2.1-or-later
// Presets: the files that are installed, and what elements save.
#include <glib/gstdio.h>

#include <map>
#include <set>

#include "tests/elements/support.h"

namespace cudascan::elements {
namespace {

using Settings = std::map<std::string, std::string>;

struct Preset {
  std::string type, name;
  Settings settings;  ///< as they are written
};

/// The contents of the project's preset files, read without GStreamer.
std::vector<Preset> installed_presets() {
  std::vector<Preset> presets;
  const char *folder = g_getenv("GST_PRESET_PATH");
  g_autoptr(GDir) dir = folder ? g_dir_open(folder, 0, nullptr) : nullptr;
  EXPECT_TRUE(dir) << "GST_PRESET_PATH must name the folder of the presets";
  while (const char *file = dir ? g_dir_read_name(dir) : nullptr) {
    SCOPED_TRACE(file);
    g_autofree char *path = g_build_filename(folder, file, nullptr);
    g_autoptr(GKeyFile) keys = g_key_file_new();
    EXPECT_TRUE(g_key_file_load_from_file(keys, path, G_KEY_FILE_NONE, nullptr));
    g_autofree char *type = g_key_file_get_string(keys, "_presets_", "element-name", nullptr);
    EXPECT_EQ(std::string(type ? type : "") + ".prs", file)
        << "GStreamer finds a preset file by the type's name";
    g_auto(GStrv) groups = g_key_file_get_groups(keys, nullptr);
    for (char **group = groups; *group; ++group) {
      if (std::string(*group) == "_presets_") continue;
      Preset preset{type ? type : "", *group, {}};
      g_auto(GStrv) names = g_key_file_get_keys(keys, *group, nullptr, nullptr);
      for (char **name = names; *name; ++name) {
        g_autofree char *value = g_key_file_get_string(keys, *group, *name, nullptr);
        preset.settings[*name] = value;
      }
      presets.push_back(preset);
    }
  }
  return presets;
}

std::string factory_of(const std::string &type) {
  g_autofree char *lower = g_ascii_strdown(type.c_str(), -1);
  return std::string(lower).substr(3);  // GstCudaNick: cudanick
}

Ref<GstElement> make(const std::string &factory) {
  GstElement *element = gst_element_factory_make(factory.c_str(), nullptr);
  EXPECT_TRUE(element) << factory;
  return Ref<GstElement>(element ? GST_ELEMENT(gst_object_ref_sink(element)) : nullptr);
}

std::set<std::string> property_names(GstElement *element) {
  g_auto(GStrv) names = gst_preset_get_property_names(GST_PRESET(element));
  std::set<std::string> set;
  for (char **name = names; *name; ++name) set.insert(*name);
  return set;
}

std::string text_of(GstElement *element, const std::string &name) {
  GValue value = G_VALUE_INIT;
  g_object_get_property(G_OBJECT(element), name.c_str(), &value);
  g_autofree char *text = gst_value_serialize(&value);
  g_value_unset(&value);
  return text ? text : "";
}

/// The properties of an element that a preset can set, and their values.
Settings settings_of(GstElement *element) {
  Settings settings;
  for (const std::string &name : property_names(element)) settings[name] = text_of(element, name);
  return settings;
}

TEST(Presets, AreThereForTheCommonWork) {
  std::set<std::string> names;
  for (const Preset &preset : installed_presets()) names.insert(preset.type + ": " + preset.name);
  EXPECT_EQ(names, (std::set<std::string>{
                       "GstCudaEqualize: 16-bit X-ray",
                       "GstCudaLinearOpen: Fabric inspection, bright threads",
                       "GstCudaLinearOpen: Fabric inspection, missing threads",
                       "GstCudaNick: Book at 300 dpi", "GstCudaNick: Newspaper from microfilm",
                       "GstCudaNick: Thermal receipt", "GstCudaNick: Whiteboard through a camera",
                       "GstCudaSwoFilter: Newspaper from microfilm"}));
}

TEST(Presets, LoadingSetsWhatIsWrittenAndNothingElse) {
  for (const Preset &preset : installed_presets()) {
    SCOPED_TRACE(preset.type + " " + preset.name);
    Ref<GstElement> element = make(factory_of(preset.type));
    ASSERT_TRUE(element);
    Settings expected = settings_of(element.get());
    for (const auto &[name, text] : preset.settings) {
      if (name == "_meta/comment") continue;
      ASSERT_TRUE(expected.contains(name)) << name << " is not a property that presets can set";
      GParamSpec *spec =
          g_object_class_find_property(G_OBJECT_GET_CLASS(element.get()), name.c_str());
      GValue value = G_VALUE_INIT;
      g_value_init(&value, spec->value_type);
      ASSERT_TRUE(gst_value_deserialize_with_pspec(&value, text.c_str(), spec))
          << name << " = " << text;
      g_autofree char *normal = gst_value_serialize(&value);
      expected[name] = normal;
      g_value_unset(&value);
    }
    ASSERT_TRUE(gst_preset_load_preset(GST_PRESET(element.get()), preset.name.c_str()));
    EXPECT_EQ(settings_of(element.get()), expected);
    g_autofree char *comment = nullptr;
    EXPECT_TRUE(
        gst_preset_get_meta(GST_PRESET(element.get()), preset.name.c_str(), "comment", &comment));
  }
}

TEST(Presets, AreTypedBehindTheElement) {
  g_autoptr(GError) error = nullptr;
  Ref<GstElement> element(
      gst_parse_launch("cudanick @preset=Thermal\\ receipt window=5 invert=true", &error));
  ASSERT_FALSE(error) << error->message;
  ASSERT_TRUE(element);
  gst_object_ref_sink(element.get());
  EXPECT_EQ(text_of(element.get(), "window"), "45")
      << "the preset overrides other settings, in any order";
  EXPECT_EQ(text_of(element.get(), "invert"), "true");
}

TEST(Presets, AnUnknownNameIsRefused) {
  Ref<GstElement> element = make("cudanick");
  const Settings before = settings_of(element.get());
  EXPECT_FALSE(gst_preset_load_preset(GST_PRESET(element.get()), "Book at 301 dpi"));
  EXPECT_EQ(settings_of(element.get()), before);
}

TEST(Presets, HaveTheSettingsOfThePictureAlone) {
  for (const std::string &name : all_elements()) {
    SCOPED_TRACE(name);
    Ref<GstElement> element = make(name);
    ASSERT_TRUE(GST_IS_PRESET(element.get()));
    const auto names = property_names(element.get());
    for (const char *other : {"backend",     "active-backend", "cuda-device-id",
                              "n-threads",   "report",         "stats",
                              "qos",         "name",           "parent",
                              "algorithm",   "source",         "function",
                              "reload",      "cache-dir",      "emit-cuda",
                              "strict",      "tile-width",     "tile-height",
                              "chunk-width", "chunk-height",   "reads",
                              "tune",        "threshold",      "cuda-source",
                              "compile-log"})
      EXPECT_FALSE(names.contains(other)) << other;
    for (const std::string &property : names) {
      GParamSpec *spec =
          g_object_class_find_property(G_OBJECT_GET_CLASS(element.get()), property.c_str());
      ASSERT_TRUE(spec) << property;
      EXPECT_EQ(spec->flags & G_PARAM_READWRITE, G_PARAM_READWRITE) << property;
    }
  }
  EXPECT_EQ(property_names(make("cudaequalize").get()),
            (std::set<std::string>{"method", "formula", "clip-limit", "tiles-x", "tiles-y",
                                   "amount", "smoothing", "roi"}));
}

/// Saves the element's settings, loads them into a new element, and returns the settings of the new
/// element.
Settings saved_and_loaded(GstElement *element) {
  const char *home = g_getenv("XDG_DATA_HOME");
  EXPECT_STREQ(g_get_user_data_dir(), home) << "the preset would be saved in the user's own folder";
  if (!home) return {};
  const std::string name = "Round trip";
  EXPECT_TRUE(gst_preset_save_preset(GST_PRESET(element), name.c_str()));
  const GstElementFactory *factory = gst_element_get_factory(element);
  Ref<GstElement> other = make(GST_OBJECT_NAME(factory));
  EXPECT_TRUE(gst_preset_load_preset(GST_PRESET(other.get()), name.c_str()));
  const Settings settings = settings_of(other.get());
  EXPECT_TRUE(gst_preset_delete_preset(GST_PRESET(other.get()), name.c_str()));
  // When it saved the preset, GStreamer also wrote the project's presets into the user's file. The
  // next run must not find them there.
  for (const char *suffix : {".prs", ".prs.bak"}) {
    const std::string file = std::string(G_OBJECT_TYPE_NAME(element)) + suffix;
    g_autofree char *path =
        g_build_filename(home, "gstreamer-1.0", "presets", file.c_str(), nullptr);
    g_remove(path);
  }
  return settings;
}

TEST(Presets, AreSavedWithNumbersEnumsAndArrays) {
  Ref<GstElement> element = make("cudaequalize");
  for (const auto &[name, value] : Settings{{"method", "clahe"},
                                            {"clip-limit", "2.5"},
                                            {"tiles-x", "3"},
                                            {"amount", "0.25"},
                                            {"roi", "<1,2,30,40>"}})
    gst_util_set_object_arg(G_OBJECT(element.get()), name.c_str(), value.c_str());
  const Settings settings = saved_and_loaded(element.get());
  EXPECT_EQ(settings, settings_of(element.get()));
  EXPECT_EQ(settings.at("method"), "clahe");
  EXPECT_EQ(settings.at("roi"), "< (int)1, (int)2, (int)30, (int)40 >");
}

TEST(Presets, AreSavedWithDefaultsAsWell) {
  for (const std::string &name : all_elements()) {
    SCOPED_TRACE(name);
    Ref<GstElement> element = make(name);
    EXPECT_EQ(saved_and_loaded(element.get()), settings_of(element.get()));
  }
}

TEST(Presets, AreSavedWithAMaskOfBlanksAndSemicolons) {
  Ref<GstElement> element = make("cudaswofilter");
  g_object_set(element.get(), "shape", "-1-;010;-1- 1-1;-0-;1-1", nullptr);
  gst_util_set_object_arg(G_OBJECT(element.get()), "operator", "hit-or-miss");
  EXPECT_EQ(saved_and_loaded(element.get()), settings_of(element.get()));
}

/// The picture for the settings, by the kernel library.
template <typename Params>
void expect_picture(const std::string &launch, GstVideoFormat format, const Params &params) {
  SCOPED_TRACE(launch);
  const Picture in = make_picture(format, 150, 110);
  Filter filter(launch);
  EXPECT_TRUE(same(filter.process(in), expected(in, params)));
}

class PresetPictures : public BackendTest {};
INSTANTIATE_BACKENDS(PresetPictures);

TEST_P(PresetPictures, AreThoseOfTheirSettings) {
  const std::string backend = std::string("backend=") + GetParam() + " @preset=";
  const auto gray = GST_VIDEO_FORMAT_GRAY8;
  const std::pair<const char *, NickParams> nick[] = {
      {"Book\\ at\\ 300\\ dpi", {.method = NickMethod::wolf, .window = 51, .k = 0.31}},
      {"Newspaper\\ from\\ microfilm", {.method = NickMethod::sauvola, .window = 45, .k = 0.13}},
      {"Thermal\\ receipt", {.window = 45, .k = -0.1}},
      {"Whiteboard\\ through\\ a\\ camera",
       {.method = NickMethod::bradley, .window = 101, .k = 0.14}}};
  for (const auto &[name, params] : nick)
    expect_picture("cudanick " + backend + name, gray, params);
  expect_picture(
      "cudaequalize " + backend + "16-bit\\ X-ray", GST_VIDEO_FORMAT_GRAY16_LE,
      EqualizeParams{
          .method = EqualizeMethod::clahe, .clip_limit = 200, .tiles_x = 4, .tiles_y = 4});
  expect_picture(
      "cudaswofilter " + backend + "Newspaper\\ from\\ microfilm", gray,
      SwoFilterParams{
          .op = SwoFilterOperator::median, .window = 3, .border = SwoFilterBorder::replicate});
  LinearOpenParams lines{
      .length = 61, .directions = 2, .span = 90, .lines = LinearOpenLines::invariant};
  expect_picture("cudalinearopen " + backend + "Fabric\\ inspection,\\ bright\\ threads", gray,
                 lines);
  lines.operation = LinearOpenOperation::closing;
  expect_picture("cudalinearopen " + backend + "Fabric\\ inspection,\\ missing\\ threads", gray,
                 lines);
}

}  // namespace
}  // namespace cudascan::elements
