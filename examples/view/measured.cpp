// SPDX-License-Identifier: LGPL-2.1-or-later
#include "measured.h"

namespace cudascan::view {
namespace {

std::vector<double> numbers(const GstStructure &structure, const char *field) {
  std::vector<double> result;
  const GValue *array = gst_structure_get_value(&structure, field);
  if (!array) return result;
  const auto append = [&](const GValue *value) {
    GValue number = G_VALUE_INIT;
    g_value_init(&number, G_TYPE_DOUBLE);
    if (g_value_transform(value, &number)) result.push_back(g_value_get_double(&number));
    g_value_unset(&number);
  };
  if (GST_VALUE_HOLDS_ARRAY(array))
    for (guint i = 0; i < gst_value_array_get_size(array); ++i)
      append(gst_value_array_get_value(array, i));
  else
    append(array);
  return result;
}

/// Which field it is does not matter: everything that is one number, but for times.
gboolean append_word(GQuark field, const GValue *value, gpointer user) {
  const std::string name = g_quark_to_string(field);
  if (name.ends_with("time") || name == "timestamp" || name == "duration" ||
      GST_VALUE_HOLDS_ARRAY(value))
    return TRUE;
  auto &words = *static_cast<std::string *>(user);
  g_autofree gchar *text = G_VALUE_HOLDS_DOUBLE(value)
                               ? g_strdup_printf("%.3g", g_value_get_double(value))
                               : gst_value_serialize(value);
  if (text) words += (words.empty() ? "" : "   ") + name + " " + text;
  return TRUE;
}

}  // namespace

Measured measured_of(const GstStructure &report, int levels) {
  Measured m;
  m.angles = numbers(report, "angles");
  m.spectrum = numbers(report, "spectrum");
  // A threshold that is no whole number is no level of the input.
  const char *field = gst_structure_has_field(&report, "thresholds") ? "thresholds" : "threshold";
  if (!gst_structure_has_field_typed(&report, "threshold", G_TYPE_DOUBLE))
    m.thresholds = numbers(report, field);
  for (double &t : m.thresholds) t /= levels;
  gst_structure_get_double(&report, "dominant-angle", &m.dominant_angle);
  gst_structure_get_double(&report, "confidence", &m.confidence);
  gboolean blank = TRUE;
  gst_structure_get_boolean(&report, "blank", &blank);
  m.blank = blank;
  gst_structure_foreach(&report, append_word, &m.words);
  return m;
}

}  // namespace cudascan::view
