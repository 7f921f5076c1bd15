// SPDX-License-Identifier: LGPL-2.1-or-later
// Settings that are not among those in use do not change the result, whatever the others are.
#include <algorithm>
#include <deque>
#include <optional>

#include "tests/elements/random_draw.h"

namespace cudascan::elements {
namespace {

/// The settings that can change the result of an element.
std::vector<GParamSpec *> own_settings(GstElement *element) {
  std::vector<GParamSpec *> own = drawn_properties(element);
  std::erase_if(own, [&](GParamSpec *spec) {
    return spec->owner_type != G_OBJECT_TYPE(element) || std::string(spec->name) == "algorithm";
  });
  return own;
}

bool is_in_use(GstElement *element, const char *name) {
  g_auto(GStrv) names = nullptr;
  g_object_get(element, "settings-in-use", &names, nullptr);
  return g_strv_contains(names, name);
}

/// Processes a frame; returns nothing if the settings are refused, and why in `error`.
std::optional<Picture> result_of(Filter &filter, const Picture &in, std::string *error) {
  filter.set_caps(make_caps(in).get());
  if (filter.push(to_buffer(in)) == GST_FLOW_OK)
    return to_picture(filter.pull().get(), filter.output_caps().get());
  if (const auto message = filter.pop(GST_MESSAGE_ERROR)) *error = error_text(message.get()).all();
  return std::nullopt;
}

TEST(RandomUse, OtherSettingsDoNotCount) {
  int compared = 0;
  for (Rounds rounds("settings in use", 3); rounds.next();) {
    Draw draw(rounds.seed());
    const std::string launch = draw.pick(all_elements()) + " backend=cpu";
    Filter first(launch), second(launch);
    std::deque<Setting> settings;
    std::vector<GParamSpec *> others;
    for (GParamSpec *spec : own_settings(first.element()))
      if (draw.one_in(2)) settings.emplace_back(draw, spec, false);
    for (const Setting &setting : settings)
      for (Filter *filter : {&first, &second}) setting.apply(filter->element());
    for (GParamSpec *spec : own_settings(first.element()))
      if (!is_in_use(first.element(), spec->name)) others.push_back(spec);
    const Picture in = make_picture(GST_VIDEO_FORMAT_GRAY8, 41, 33, draw.bits());
    std::string error;
    const auto expected = result_of(first, in, &error);
    if (others.empty() || !expected) continue;
    const Setting other(draw, draw.pick(others), false);
    other.apply(second.element());
    const auto result = result_of(second, in, &error);
    std::string said;
    for (const Setting &setting : settings) said += setting.text() + "\n";
    if (result)
      EXPECT_TRUE(same(*result, *expected)) << launch << "\n" << said << other.text();
    else  // it may contradict another setting
      EXPECT_NE(error.find(other.name()), std::string::npos) << launch << "\n" << said << error;
    ++compared;
  }
  EXPECT_GT(compared, 0);
}

}  // namespace
}  // namespace cudascan::elements
