// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Properties of elements as text and back.
#pragma once
#include <gst/gst.h>

#include <string>
#include <utility>
#include <vector>

namespace cudascan::view {

using Settings = std::vector<std::pair<std::string, std::string>>;  ///< names and values, in order

/// The properties that a viewer lets one change: those that can be written, but not those of GstObject.
std::vector<GParamSpec *> changeable_properties(GstElement *element);

/// Whether the type says how text becomes a value: all but objects.
bool has_text(const GParamSpec *property);

/// The value as GStreamer writes it in launch lines.
std::string text_of(GstElement *element, const GParamSpec *property);
/// The same of a new element of the kind.
std::string default_text(GstElement *element, const GParamSpec *property);

/// Sets a property from text.
/// @throws std::runtime_error with a sentence that names the property, the value and what would be right
void set_property(GstElement *element, const std::string &name, const std::string &text);

/// Those that are not what they are by default.
Settings settings_of(GstElement *element);

}  // namespace cudascan::view
