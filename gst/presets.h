// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Presets: the settings that make the picture.
#pragma once
#include <gst/gst.h>

#include <string_view>
#include <tuple>

namespace cudascan::gst {

/// Gives an element type the interface GstPreset.
template <typename Traits>
class Presets {
 public:
  static void add_to(GType type) {
    const GInterfaceInfo presets{[](gpointer data, gpointer) {
                                   auto *interface = static_cast<GstPresetInterface *>(data);
                                   interface->get_property_names = properties;
                                   load_of_gstreamer = interface->load_preset;
                                   interface->load_preset = load;
                                 },
                                 nullptr, nullptr};
    g_type_add_interface_static(type, GST_TYPE_PRESET, &presets);
  }

 private:
  static inline decltype(GstPresetInterface::load_preset) load_of_gstreamer = nullptr;

  /// GStreamer's own of 1.22 leaves in texts the backslashes that it saves them with. No text of
  /// ours has any.
  static gboolean load(GstPreset *preset, const gchar *name) {
    if (!load_of_gstreamer(preset, name)) return FALSE;
    g_auto(GStrv) names = properties(preset);
    for (gchar **property = names; *property; ++property) {
      GObjectClass *klass = G_OBJECT_GET_CLASS(preset);
      if (g_object_class_find_property(klass, *property)->value_type != G_TYPE_STRING) continue;
      g_autofree gchar *text = nullptr;
      g_object_get(preset, *property, &text, nullptr);
      g_autofree gchar *plain = text ? g_strcompress(text) : nullptr;
      if (g_strcmp0(text, plain) != 0) g_object_set(preset, *property, plain, nullptr);
    }
    return TRUE;
  }

  /// The settings that make the picture; not those of the base class, which belong to a machine and
  /// to an application.
  static gchar **properties(GstPreset *) {
    GPtrArray *names = g_ptr_array_new();
    const auto add = [&](const char *name) {
      bool in_presets = name != std::string_view("algorithm");
      if constexpr (requires { Traits::in_presets(name); })
        in_presets = in_presets && Traits::in_presets(name);
      if (in_presets) g_ptr_array_add(names, g_strdup(name));
    };
    std::apply([&](const auto &...p) { (add(p.name), ...); }, Traits::properties);
    g_ptr_array_add(names, nullptr);
    return reinterpret_cast<gchar **>(g_ptr_array_free(names, FALSE));
  }
};

}  // namespace cudascan::gst
