// SPDX-License-Identifier: LGPL-2.1-or-later
#include "settings.h"

#include <algorithm>
#include <stdexcept>

namespace cudascan::view {
namespace {

struct Value {
  GValue value = G_VALUE_INIT;
  explicit Value(const GParamSpec *property) { g_value_init(&value, property->value_type); }
  ~Value() { g_value_unset(&value); }
  Value(const Value &) = delete;
  Value &operator=(const Value &) = delete;
};

/// Removes the quotes and escapes that serialising adds to strings.
std::string plain_text(const GValue &value) {
  if (G_VALUE_HOLDS_STRING(&value)) {
    const gchar *text = g_value_get_string(&value);
    return text ? text : "";
  }
  g_autofree gchar *text = gst_value_serialize(&value);
  return text ? text : "";
}

/// The values that the property accepts, for messages.
std::string range_of(const GParamSpec *property) {
  if (G_IS_PARAM_SPEC_INT(property)) {
    const auto *p = G_PARAM_SPEC_INT(property);
    return "a whole number from " + std::to_string(p->minimum) + " to " +
           std::to_string(p->maximum);
  }
  if (G_IS_PARAM_SPEC_UINT(property)) {
    const auto *p = G_PARAM_SPEC_UINT(property);
    return "a whole number from " + std::to_string(p->minimum) + " to " +
           std::to_string(p->maximum);
  }
  if (G_IS_PARAM_SPEC_DOUBLE(property)) {
    const auto *p = G_PARAM_SPEC_DOUBLE(property);
    if (p->maximum >= G_MAXDOUBLE) return "a number";
    g_autofree gchar *text = g_strdup_printf("a number from %g to %g", p->minimum, p->maximum);
    return text;
  }
  if (G_IS_PARAM_SPEC_ENUM(property)) {
    std::string names;
    const GEnumClass *values = G_PARAM_SPEC_ENUM(property)->enum_class;
    for (guint i = 0; i < values->n_values; ++i)
      names += (i ? ", " : "one of ") + std::string(values->values[i].value_nick);
    return names;
  }
  return "a value of type " + std::string(g_type_name(property->value_type));
}

}  // namespace

bool has_text(const GParamSpec *property) {
  return !g_type_is_a(property->value_type, G_TYPE_OBJECT);
}

std::vector<GParamSpec *> changeable_properties(GstElement *element) {
  guint n = 0;
  g_autofree GParamSpec **all = g_object_class_list_properties(G_OBJECT_GET_CLASS(element), &n);
  std::vector<GParamSpec *> result;
  for (guint i = 0; i < n; ++i) {
    GParamSpec *const p = all[i];
    const bool of_base = p->owner_type == GST_TYPE_OBJECT || p->owner_type == GST_TYPE_ELEMENT;
    const bool writable = (p->flags & G_PARAM_WRITABLE) && !(p->flags & G_PARAM_CONSTRUCT_ONLY);
    // The viewer reads reports itself.
    if (of_base || !writable || !has_text(p) || std::string(p->name) == "report") continue;
    result.push_back(p);
  }
  return result;
}

std::string text_of(GstElement *element, const GParamSpec *property) {
  Value v(property);
  g_object_get_property(G_OBJECT(element), property->name, &v.value);
  return plain_text(v.value);
}

Settings values_with(GstElement *element, const Settings &settings) {
  GstElement *fresh = GST_ELEMENT(
      gst_object_ref_sink(gst_element_factory_create(gst_element_get_factory(element), nullptr)));
  Settings values;
  try {
    for (const auto &[name, text] : settings) set_property(fresh, name, text);
    for (const GParamSpec *p : changeable_properties(fresh))
      values.emplace_back(p->name, text_of(fresh, p));
  } catch (...) {
    gst_object_unref(fresh);
    throw;
  }
  gst_object_unref(fresh);
  return values;
}

std::string value_of(const Settings &settings, const std::string &name) {
  for (const auto &[known, text] : settings)
    if (known == name) return text;
  return {};
}

void drop(Settings &settings, const std::string &name) {
  std::erase_if(settings, [&](const auto &setting) { return setting.first == name; });
}

void set_property(GstElement *element, const std::string &name, const std::string &text) {
  GParamSpec *property = g_object_class_find_property(G_OBJECT_GET_CLASS(element), name.c_str());
  const std::string type = GST_OBJECT_NAME(gst_element_get_factory(element));
  if (!property || !(property->flags & G_PARAM_WRITABLE) || !has_text(property))
    throw std::runtime_error(name + "=" + text + ": " + type +
                             " has no such property; gst-inspect-1.0 " + type + " lists them");
  Value v(property);
  const bool string = G_VALUE_HOLDS_STRING(&v.value);
  if (string) g_value_set_string(&v.value, text.c_str());
  const bool none = text.empty() && G_VALUE_HOLDS_BOXED(&v.value);
  if (!string && !none && !gst_value_deserialize_with_pspec(&v.value, text.c_str(), property))
    throw std::runtime_error(name + "=" + text + ": must be " + range_of(property));
  // Clamps values out of range, and says so.
  if (g_param_value_validate(property, &v.value))
    throw std::runtime_error(name + "=" + text + ": must be " + range_of(property));
  g_object_set_property(G_OBJECT(element), name.c_str(), &v.value);
}

std::vector<std::pair<GParamSpec *, Use>> uses_of(GstElement *element) {
  GObjectClass *const klass = G_OBJECT_GET_CLASS(element);
  std::vector<GParamSpec *> all = changeable_properties(element);
  std::vector<std::pair<GParamSpec *, Use>> uses;
  if (!g_object_class_find_property(klass, "settings-in-use")) {
    for (GParamSpec *p : all) uses.emplace_back(p, Use::picture);
    return uses;
  }
  g_auto(GStrv) in_use = nullptr;
  g_object_get(element, "settings-in-use", &in_use, nullptr);
  for (gchar **name = in_use; name && *name; ++name) {
    GParamSpec *const p = g_object_class_find_property(klass, *name);
    if (std::erase(all, p)) uses.emplace_back(p, Use::picture);
  }
  g_auto(GStrv) of_presets =
      GST_IS_PRESET(element) ? gst_preset_get_property_names(GST_PRESET(element)) : nullptr;
  for (GParamSpec *p : all) {
    const bool changes_picture =
        of_presets && g_strv_contains(const_cast<const gchar *const *>(of_presets), p->name);
    uses.emplace_back(p, changes_picture ? Use::unused : Use::technical);
  }
  return uses;
}

}  // namespace cudascan::view
