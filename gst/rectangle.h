// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// A part of the frame as a property: an array of four integers.
#pragma once
#include <string>

#include "gst/values.h"
#include "kernels/histogram.h"

namespace cudascan::gst {

template <>
struct PropertyValue<Rectangle> {
  static GParamSpec *spec(const PropertyText &t, const Rectangle &, GParamFlags flags) {
    return gst_param_spec_array(
        t.name, t.nick, t.blurb,
        number_spec({"pixels", "Pixels", "x, y, width and height"}, {0, G_MAXINT}, kNoInteger,
                    static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS)),
        static_cast<GParamFlags>(flags | G_PARAM_LAX_VALIDATION));
  }

  /// @throws BadSetting for an array of anything but four integers
  static void load(const GValue *from, Rectangle &to) {
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
  static void store(GValue *to, const Rectangle &from) {
    g_value_reset(to);
    if (from == Rectangle{}) return;
    for (int number : {from.x, from.y, from.width, from.height}) append_to_array(to, number);
  }

 private:
  /// What GObject makes of an element of an array that is no integer; load() refuses it.
  static constexpr int kNoInteger = G_MININT;
};

}  // namespace cudascan::gst
