// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// How C++ types are GObject properties: int, unsigned, double, bool, std::string, Rectangle (an
/// array of four integers), std::optional<double>, named numbers (a GstStructure), and enums (or
/// flags) that have an EnumTable.
#pragma once
#include <gst/gst.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/error.h"
#include "gst/enums.h"
#include "kernels/histogram.h"
#include "kernels/swofilter.h"

namespace cudascan::gst {

inline void append_to_array(GValue *array, int number) {
  GValue value = G_VALUE_INIT;
  g_value_init(&value, G_TYPE_INT);
  g_value_set_int(&value, number);
  gst_value_array_append_and_take_value(array, &value);
}
inline void append_to_array(GValue *array, unsigned number) {
  GValue value = G_VALUE_INIT;
  g_value_init(&value, G_TYPE_UINT);
  g_value_set_uint(&value, number);
  gst_value_array_append_and_take_value(array, &value);
}

inline void append_to_array(GValue *array, std::int64_t number) {
  GValue value = G_VALUE_INIT;
  g_value_init(&value, G_TYPE_INT64);
  g_value_set_int64(&value, number);
  gst_value_array_append_and_take_value(array, &value);
}
inline void append_to_array(GValue *array, double number) {
  GValue value = G_VALUE_INIT;
  g_value_init(&value, G_TYPE_DOUBLE);
  g_value_set_double(&value, number);
  gst_value_array_append_and_take_value(array, &value);
}

/// Adds a field of type GST_TYPE_ARRAY, which every binding can read.
template <typename T>
void set_array(GstStructure *fields, const char *name, const std::vector<T> &numbers) {
  GValue array = G_VALUE_INIT;
  gst_value_array_init(&array, static_cast<guint>(numbers.size()));
  for (const T number : numbers) append_to_array(&array, number);
  gst_structure_take_value(fields, name, &array);
}

/// What GObject makes of an element of an array that is no integer; load() refuses it.
inline constexpr int kNoInteger = G_MININT;

inline GParamSpec *make_spec(const char *name, const char *nick, const char *blurb, int value,
                             GParamFlags flags) {
  return g_param_spec_int(name, nick, blurb, G_MININT, G_MAXINT, value, flags);
}
inline GParamSpec *make_spec(const char *name, const char *nick, const char *blurb, unsigned value,
                             GParamFlags flags) {
  return g_param_spec_uint(name, nick, blurb, 0, G_MAXUINT, value, flags);
}
inline GParamSpec *make_spec(const char *name, const char *nick, const char *blurb, double value,
                             GParamFlags flags) {
  // So that infinity is not clipped to a number, and NaN is not ignored, but both are refused.
  return g_param_spec_double(name, nick, blurb, -HUGE_VAL, HUGE_VAL, value,
                             static_cast<GParamFlags>(flags | G_PARAM_LAX_VALIDATION));
}
inline GParamSpec *make_spec(const char *name, const char *nick, const char *blurb, bool value,
                             GParamFlags flags) {
  return g_param_spec_boolean(name, nick, blurb, value, flags);
}
inline GParamSpec *make_spec(const char *name, const char *nick, const char *blurb,
                             const Rectangle &, GParamFlags flags) {
  return gst_param_spec_array(
      name, nick, blurb,
      g_param_spec_int("pixels", "Pixels", "x, y, width and height", kNoInteger, G_MAXINT,
                       kNoInteger,
                       static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS)),
      static_cast<GParamFlags>(flags | G_PARAM_LAX_VALIDATION));
}
inline GParamSpec *make_spec(const char *name, const char *nick, const char *blurb,
                             const std::string &value, GParamFlags flags) {
  return g_param_spec_string(name, nick, blurb, value.c_str(), flags);
}
inline GParamSpec *make_spec(const char *name, const char *nick, const char *blurb,
                             const std::vector<SwoFilterConstant> &, GParamFlags flags) {
  return g_param_spec_boxed(name, nick, blurb, GST_TYPE_STRUCTURE, flags);
}
template <typename E>
requires std::is_enum_v<E> GParamSpec *make_spec(const char *name, const char *nick,
                                                 const char *blurb, E value, GParamFlags flags) {
  if constexpr (is_flags<E>)
    return g_param_spec_flags(name, nick, blurb, enum_type<E>(), static_cast<guint>(value), flags);
  else
    return g_param_spec_enum(name, nick, blurb, enum_type<E>(), static_cast<gint>(value), flags);
}

inline void load(const GValue *from, int &to) {
  to = g_value_get_int(from);
}
inline void load(const GValue *from, unsigned &to) {
  to = g_value_get_uint(from);
}
inline void load(const GValue *from, double &to) {
  to = g_value_get_double(from);
}
inline void load(const GValue *from, std::optional<double> &to) {
  to = g_value_get_double(from);
}
inline void load(const GValue *from, bool &to) {
  to = g_value_get_boolean(from);
}
inline void load(const GValue *from, std::string &to) {
  const char *text = g_value_get_string(from);
  to = text ? text : "";
}
/// @throws BadSetting for an array of anything but four integers
inline void load(const GValue *from, Rectangle &to) {
  int numbers[4] = {};
  const guint n = gst_value_array_get_size(from);
  bool ok = n == 0 || n == 4;
  std::string text;
  for (guint i = 0; i < n; ++i) {
    const GValue *element = gst_value_array_get_value(from, i);
    const bool is_int = G_VALUE_HOLDS_INT(element) && g_value_get_int(element) != kNoInteger;
    text += (i ? ", " : "") + (is_int ? std::to_string(g_value_get_int(element)) : "?");
    ok = ok && is_int;
    if (ok) numbers[i] = g_value_get_int(element);
  }
  if (!ok)
    throw BadSetting("<" + text +
                     ">: must be four integers <x, y, width, height>, or <> for the whole frame");
  to = {numbers[0], numbers[1], numbers[2], numbers[3]};
}
/// @throws BadSetting for a field that is no number
inline void load(const GValue *from, std::vector<SwoFilterConstant> &to) {
  to.clear();
  const GstStructure *fields = gst_value_get_structure(from);
  for (gint i = 0; fields && i < gst_structure_n_fields(fields); ++i) {
    const char *name = gst_structure_nth_field_name(fields, static_cast<guint>(i));
    const GValue *field = gst_structure_get_value(fields, name);
    GValue number = G_VALUE_INIT;
    const bool real = G_VALUE_HOLDS_DOUBLE(field) || G_VALUE_HOLDS_FLOAT(field);
    g_value_init(&number, real ? G_TYPE_DOUBLE : G_TYPE_INT64);
    const bool ok = !G_VALUE_HOLDS_STRING(field) && g_value_transform(field, &number);
    if (!ok)
      throw BadSetting(std::string(name) + " (" + G_VALUE_TYPE_NAME(field) +
                       "): must be a number, as in params,radius=2,amount=1.5");
    if (real)
      to.push_back({name, g_value_get_double(&number)});
    else
      to.push_back({name, std::int64_t{g_value_get_int64(&number)}});
  }
}
template <typename E>
requires std::is_enum_v<E>
void load(const GValue *from, E &to) {
  if constexpr (is_flags<E>)
    to = static_cast<E>(g_value_get_flags(from));
  else
    to = static_cast<E>(g_value_get_enum(from));
}

inline void store(GValue *to, int from) {
  g_value_set_int(to, from);
}
inline void store(GValue *to, unsigned from) {
  g_value_set_uint(to, from);
}
inline void store(GValue *to, double from) {
  g_value_set_double(to, from);
}
inline void store(GValue *to, bool from) {
  g_value_set_boolean(to, from);
}
inline void store(GValue *to, const std::string &from) {
  g_value_set_string(to, from.c_str());
}
inline void store(GValue *to, const Rectangle &from) {
  g_value_reset(to);
  if (from == Rectangle{}) return;
  for (int number : {from.x, from.y, from.width, from.height}) append_to_array(to, number);
}
inline void store(GValue *to, const std::vector<SwoFilterConstant> &from) {
  GstStructure *fields = gst_structure_new_empty("params");
  for (const SwoFilterConstant &constant : from) {
    if (const auto *real = std::get_if<double>(&constant.value))
      gst_structure_set(fields, constant.name.c_str(), G_TYPE_DOUBLE, *real, nullptr);
    else if (const auto integer = std::get<std::int64_t>(constant.value);
             integer == static_cast<gint>(integer))
      gst_structure_set(fields, constant.name.c_str(), G_TYPE_INT, static_cast<gint>(integer),
                        nullptr);
    else
      gst_structure_set(fields, constant.name.c_str(), G_TYPE_INT64, static_cast<gint64>(integer),
                        nullptr);
  }
  g_value_take_boxed(to, fields);
}
template <typename E>
requires std::is_enum_v<E>
void store(GValue *to, E from) {
  if constexpr (is_flags<E>)
    g_value_set_flags(to, static_cast<guint>(from));
  else
    g_value_set_enum(to, static_cast<gint>(from));
}

}  // namespace cudascan::gst
