// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// GObject enum and flags types made from tables.
#pragma once
#include <gst/gst.h>

#include <array>
#include <iterator>
#include <type_traits>

namespace cudascan::gst {

template <typename E>
struct EnumEntry {
  E value;
  const char *description;
  const char *nick;
};

/// Specialise it for each enum that is a property:
///
///     static constexpr const char *type_name = "GstCudaNickMethod";
///     static constexpr bool is_flags = true;                      // for flags only
///     static constexpr EnumEntry<NickMethod> values[] = {...};
template <typename E>
struct EnumTable;

template <typename E>
constexpr bool is_flags = requires {
  requires EnumTable<E>::is_flags;
};

/// The GObject type of an enum.
template <typename E>
GType enum_type() {
  static const GType type = [] {
    constexpr auto &table = EnumTable<E>::values;
    using Value = std::conditional_t<is_flags<E>, GFlagsValue, GEnumValue>;
    // A zero entry ends the array; GObject keeps a pointer to it.
    static std::array<Value, std::size(table) + 1> values{};
    for (std::size_t i = 0; i < std::size(table); ++i) {
      values[i].value = static_cast<decltype(Value::value)>(table[i].value);
      values[i].value_name = table[i].description;
      values[i].value_nick = table[i].nick;
    }
    GType t;
    if constexpr (is_flags<E>)
      t = g_flags_register_static(EnumTable<E>::type_name, values.data());
    else
      t = g_enum_register_static(EnumTable<E>::type_name, values.data());
    gst_type_mark_as_plugin_api(t, static_cast<GstPluginAPIFlags>(0));
    return t;
  }();
  return type;
}

/// The nick of a value; null if the table does not have the value.
template <typename E>
const char *enum_nick(E value) {
  for (const auto &entry : EnumTable<E>::values)
    if (entry.value == value) return entry.nick;
  return nullptr;
}

}  // namespace cudascan::gst
