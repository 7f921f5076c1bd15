// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Converts properties of elements to text and back.
#pragma once
#include <gst/gst.h>

#include <string>
#include <utility>
#include <vector>

namespace cudascan::view {

using Settings = std::vector<std::pair<std::string, std::string>>;  ///< names and values, in order

/// The properties that the viewer can change: all writable ones except those of GstObject.
std::vector<GParamSpec *> changeable_properties(GstElement *element);

/// Whether text can be converted to the type: true for all but objects.
bool has_text(const GParamSpec *property);

/// The value in the syntax of launch lines.
std::string text_of(GstElement *element, const GParamSpec *property);

/// The values of all changeable properties of a new element of this type with these settings.
Settings values_with(GstElement *element, const Settings &settings);
/// The value with this name; "" if there is none.
std::string value_of(const Settings &settings, const std::string &name);
/// Removes the value with this name, if there is one.
void drop(Settings &settings, const std::string &name);

/// Sets a property from text.
/// @throws std::runtime_error with a sentence: property, value and what is allowed
void set_property(GstElement *element, const std::string &name, const std::string &text);

/// What a control needs to know about its property.
enum class Use {
  picture,    ///< the result depends on it
  unused,     ///< the result does not depend on it now, because of another setting
  technical,  ///< it never changes the result
};
/// The changeable properties, those of the picture first and in the order of use, as the element
/// itself tells (its property settings-in-use, and the names that its presets have). All
/// properties of an element that does not tell are of the picture.
std::vector<std::pair<GParamSpec *, Use>> uses_of(GstElement *element);

}  // namespace cudascan::view
