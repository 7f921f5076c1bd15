// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Tables of properties over the params struct and the report of an operator.
#pragma once
#include <optional>
#include <tuple>
#include <type_traits>

#include "gst/values.h"

namespace cudascan::gst {

/// A setting: a field of the params struct, which also knows the default; of a type that values.h
/// knows. validate() of the operator refuses what makes no sense, see number_spec().
template <typename Params, typename V>
struct Property {
  using Value = V;
  const char *name;
  const char *nick;
  const char *blurb;
  V Params::*field;
  Limits limits = {};  ///< of a number
  /// What an unset std::optional stands for.
  double (*in_use)(const Params &) = nullptr;

  const V &of(const Params &params) const { return params.*field; }
  V &of(Params &params) const { return params.*field; }
};
template <typename Params, typename V, typename... More>
Property(const char *, const char *, const char *, V Params::*, More...) -> Property<Params, V>;

/// A setting in a struct that is a member of the params struct.
template <typename Params, typename Part, typename V>
struct PropertyOfPart {
  using Value = V;
  const char *name;
  const char *nick;
  const char *blurb;
  Part Params::*part;
  V Part::*field;
  Limits limits;

  const V &of(const Params &params) const { return params.*part.*field; }
  V &of(Params &params) const { return params.*part.*field; }
};

/// The properties of a member of the params struct as properties of the whole.
template <typename Params, typename Part, typename... V>
constexpr auto of_part(Part Params::*part, const std::tuple<Property<Part, V>...> &properties) {
  return std::apply(
      [&](const auto &...p) {
        return std::tuple{
            PropertyOfPart<Params, Part, V>{p.name, p.nick, p.blurb, part, p.field, p.limits}...};
      },
      properties);
}

/// A read-only property that shows a field of the latest report and notifies when it changes. It is
/// brought up to date with every frame, but on the GPU, where that costs a wait for the result,
/// only while somebody listens to notify::name (or deep-notify of a bin around), once somebody has
/// read it, and while `report` is set.
template <typename Report, typename V>
struct Result {
  using Value = V;
  const char *name;
  const char *nick;
  const char *blurb;
  V Report::*field;
  Limits limits = {};  ///< of a number
};
template <typename Report, typename V, typename... More>
Result(const char *, const char *, const char *, V Report::*, More...) -> Result<Report, V>;

/// The same for what is no plain number: a structure made from the report.
template <typename Report>
struct StructureResult {
  const char *name;
  const char *nick;
  const char *blurb;
  GstStructure *(*make)(const Report &);
};
template <typename Report>
StructureResult(const char *, const char *, const char *, GstStructure *(*)(const Report &))
    -> StructureResult<Report>;

/// The value of a property as it is shown: an unset optional as what it stands for.
template <typename Params, typename V>
decltype(auto) shown(const Property<Params, V> &property,
                     const std::type_identity_t<Params> &params) {
  if constexpr (std::is_same_v<V, std::optional<double>>)
    return (params.*property.field).value_or(property.in_use(params));
  else
    return property.of(params);
}
template <typename Params, typename Part, typename V>
const V &shown(const PropertyOfPart<Params, Part, V> &property,
               const std::type_identity_t<Params> &params) {
  return property.of(params);
}

/// Calls f with the entry number `id` of a table that begins at `first`.
template <typename Table, typename F>
bool with_entry(const Table &table, guint first, guint id, F f) {
  return std::apply(
      [&](const auto &...entry) {
        guint i = first;
        return ((id == i++ ? (f(entry), true) : false) || ...);
      },
      table);
}

template <typename Report, typename V>
void show(const Result<Report, V> &result, const Report &report, GValue *value) {
  store(value, report.*result.field);
}
template <typename Report>
void show(const StructureResult<Report> &result, const Report &report, GValue *value) {
  g_value_take_boxed(value, result.make(report));
}

template <typename Report, typename V>
bool differ(const Result<Report, V> &result, const Report &a, const Report &b) {
  return !(a.*result.field == b.*result.field);
}
template <typename Report>
bool differ(const StructureResult<Report> &result, const Report &a, const Report &b) {
  g_autoptr(GstStructure) x = result.make(a), y = result.make(b);
  return !gst_structure_is_equal(x, y);
}

template <typename Entry>
constexpr bool has_limits(const Entry &entry) {
  if constexpr (requires { entry.limits; })
    return !is_number<typename Entry::Value> || entry.limits.least < entry.limits.most;
  return true;
}
/// Whether all numbers of a table have limits.
template <typename... Entries>
constexpr bool numbers_have_limits(const std::tuple<Entries...> &table) {
  return std::apply([](const auto &...entry) { return (has_limits(entry) && ... && true); }, table);
}

// ---- What GObject is told of them
// ----------------------------------------------------------------

inline constexpr auto kReadable =
    static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);

template <typename Params, typename P>
GParamSpec *spec_of_setting(const P &p, const Params &defaults) {
  constexpr auto kFlags =
      static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                               GST_PARAM_MUTABLE_PLAYING | GST_PARAM_CONTROLLABLE);
  return make_spec({p.name, p.nick, p.blurb}, shown(p, defaults), kFlags, p.limits);
}
template <typename Report, typename V>
GParamSpec *spec_of_result(const Result<Report, V> &r) {
  return make_spec({r.name, r.nick, r.blurb}, Report{}.*r.field, kReadable, r.limits);
}
template <typename Report>
GParamSpec *spec_of_result(const StructureResult<Report> &r) {
  return g_param_spec_boxed(r.name, r.nick, r.blurb, GST_TYPE_STRUCTURE, kReadable);
}

}  // namespace cudascan::gst
