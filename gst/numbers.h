// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Properties that are numbers with a range.
#pragma once
#include <gst/gst.h>

#include <type_traits>

namespace cudascan::gst {

/// The range of a number, for all sizes and depths of frames. An operator may refuse some values in
/// it, such as even windows; it refuses all outside. {0, 0}: not a number.
struct Limits {
  double least = 0, most = 0;
};

struct PropertyText {
  const char *name, *nick, *blurb;
};

/// A property specification of a type derived from GLib's own, so that gst-inspect-1.0, bindings
/// and control bindings see the range, but which lets every number through. GLib's own refuses a
/// number outside the range with a message on the terminal, "value ... is invalid or out of range
/// for property ...", and goes on with the old value; so it is with g_object_set(), gst-launch-1.0,
/// presets and Python, as all of them end in g_object_set_property(). With G_PARAM_LAX_VALIDATION
/// it clips the number without a word. Here the number reaches validate() of the operator, and the
/// element error names the property, the value and the remedy. So it is with NaN and infinity.
/// @tparam T  int or double
template <typename T>
GParamSpec *number_spec(const PropertyText &text, Limits limits, T value, GParamFlags flags) {
  constexpr bool whole = std::is_same_v<T, int>;
  using Spec = std::conditional_t<whole, GParamSpecInt, GParamSpecDouble>;
  static const GType type = [] {
    GTypeQuery parent;
    g_type_query(whole ? G_TYPE_PARAM_INT : G_TYPE_PARAM_DOUBLE, &parent);
    return g_type_register_static_simple(
        parent.type, whole ? "GstCudaScanParamInt" : "GstCudaScanParamDouble", parent.class_size,
        [](gpointer klass, gpointer) { G_PARAM_SPEC_CLASS(klass)->value_validate = nullptr; },
        parent.instance_size, nullptr, static_cast<GTypeFlags>(0));
  }();
  auto *spec = reinterpret_cast<Spec *>(
      g_param_spec_internal(type, text.name, text.nick, text.blurb, flags));
  spec->minimum = static_cast<T>(limits.least);
  spec->maximum = static_cast<T>(limits.most);
  spec->default_value = value;
  return G_PARAM_SPEC(spec);
}

}  // namespace cudascan::gst
