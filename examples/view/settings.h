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
/// The value that a new element of this type has.
std::string default_text(GstElement *element, const GParamSpec *property);

/// Sets a property from text.
/// @throws std::runtime_error with a sentence: property, value and what is allowed
void set_property(GstElement *element, const std::string &name, const std::string &text);

/// The settings that differ from the defaults.
Settings settings_of(GstElement *element);

}  // namespace cudascan::view
