// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The elements of gst-cudascan that GStreamer finds.
#pragma once
#include <gst/gst.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace cudascan {

inline constexpr const char *kDefaultElement = "cudabinarize";

/// The names of all elements of the plugin, with the default first. Empty if GStreamer does not
/// find the plugin.
inline std::vector<std::string> element_names() {
  std::vector<std::string> names;
  GList *features = gst_registry_get_feature_list_by_plugin(gst_registry_get(), "cudascan");
  for (GList *item = features; item; item = item->next)
    if (GST_IS_ELEMENT_FACTORY(item->data)) names.push_back(GST_OBJECT_NAME(item->data));
  gst_plugin_feature_list_free(features);
  std::sort(names.begin(), names.end());
  std::stable_partition(names.begin(), names.end(),
                        [](const std::string &name) { return name == kDefaultElement; });
  return names;
}

/// @throws std::runtime_error with all names if this is not one of them
inline void check_element(const std::string &name) {
  const std::vector<std::string> names = element_names();
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  if (names.empty())
    throw std::runtime_error(
        "GStreamer does not find the element " + name +
        ". Set GST_PLUGIN_PATH to the folder of libgstcudascan.so, or run this in "
        "`meson devenv -C build`");
  std::string all;
  for (const std::string &one : names) all += (all.empty() ? "" : ", ") + one;
  throw std::runtime_error("element=" + name + ": must be one of " + all);
}

}  // namespace cudascan
