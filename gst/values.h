// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Maps C++ types to GObject properties. A type can be a property if PropertyValue is specialised
/// for it: here for numbers, texts, and enums (or flags) that have an EnumTable.
#pragma once
#include <gst/gst.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "common/error.h"
#include "gst/enums.h"
#include "gst/numbers.h"

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

/// Specialise it:
///
///     // `value`: the default. Numbers take Limits after it.
///     static GParamSpec *spec(const PropertyText &, const T &value, GParamFlags);
///     static void load(const GValue *from, T &to);  // may throw BadSetting
///     static void store(GValue *to, const T &from);
template <typename T>
struct PropertyValue;

template <>
struct PropertyValue<int> {
  static GParamSpec *spec(const PropertyText &t, int value, Limits limits, GParamFlags flags) {
    return number_spec(t, limits, value, flags);
  }
  static void load(const GValue *from, int &to) { to = g_value_get_int(from); }
  static void store(GValue *to, int from) { g_value_set_int(to, from); }
};

template <>
struct PropertyValue<double> {
  static GParamSpec *spec(const PropertyText &t, double value, Limits limits, GParamFlags flags) {
    return number_spec(t, limits, value, flags);
  }
  static void load(const GValue *from, double &to) { to = g_value_get_double(from); }
  static void store(GValue *to, double from) { g_value_set_double(to, from); }
};

/// An unset value is shown as its default number.
template <>
struct PropertyValue<std::optional<double>> {
  static void load(const GValue *from, std::optional<double> &to) { to = g_value_get_double(from); }
};

template <>
struct PropertyValue<bool> {
  static GParamSpec *spec(const PropertyText &t, bool value, GParamFlags flags) {
    return g_param_spec_boolean(t.name, t.nick, t.blurb, value, flags);
  }
  static void load(const GValue *from, bool &to) { to = g_value_get_boolean(from); }
  static void store(GValue *to, bool from) { g_value_set_boolean(to, from); }
};

template <>
struct PropertyValue<std::string> {
  static GParamSpec *spec(const PropertyText &t, const std::string &value, GParamFlags flags) {
    return g_param_spec_string(t.name, t.nick, t.blurb, value.c_str(), flags);
  }
  static void load(const GValue *from, std::string &to) {
    const char *text = g_value_get_string(from);
    to = text ? text : "";
  }
  static void store(GValue *to, const std::string &from) { g_value_set_string(to, from.c_str()); }
};

template <typename E>
requires std::is_enum_v<E>
struct PropertyValue<E> {
  static GParamSpec *spec(const PropertyText &t, E value, GParamFlags flags) {
    if constexpr (is_flags<E>)
      return g_param_spec_flags(t.name, t.nick, t.blurb, enum_type<E>(), static_cast<guint>(value),
                                flags);
    else
      return g_param_spec_enum(t.name, t.nick, t.blurb, enum_type<E>(), static_cast<gint>(value),
                               flags);
  }
  static void load(const GValue *from, E &to) {
    if constexpr (is_flags<E>)
      to = static_cast<E>(g_value_get_flags(from));
    else
      to = static_cast<E>(g_value_get_enum(from));
  }
  static void store(GValue *to, E from) {
    if constexpr (is_flags<E>)
      g_value_set_flags(to, static_cast<guint>(from));
    else
      g_value_set_enum(to, static_cast<gint>(from));
  }
};

/// Whether a property of this type must have Limits.
template <typename T>
constexpr bool is_number =
    std::is_same_v<T, int> || std::is_same_v<T, double> || std::is_same_v<T, std::optional<double>>;

template <typename T>
GParamSpec *make_spec(const PropertyText &text, const T &value, GParamFlags flags,
                      [[maybe_unused]] Limits limits = {}) {
  if constexpr (is_number<T>)
    return PropertyValue<T>::spec(text, value, limits, flags);
  else
    return PropertyValue<T>::spec(text, value, flags);
}
template <typename T>
void load(const GValue *from, T &to) {
  PropertyValue<T>::load(from, to);
}
template <typename T>
void store(GValue *to, const T &from) {
  PropertyValue<T>::store(to, from);
}

}  // namespace cudascan::gst
