// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What the tests expect of an element and cannot ask its operator. tests/elements/<operator>.h
/// overloads these functions.
#pragma once
#include <set>
#include <string>

namespace cudascan::elements {

/// The chroma of a result: a copy of the input's, no colour, or colours that show the directions in
/// the input's luma.
enum class Colour { of_input, none, of_directions };
template <typename Params>
Colour colour_of(const Params &) {
  return Colour::of_input;
}

/// The element's own settings; a GstController can control each of them. An empty set allows any.
template <typename Params>
std::set<std::string> settings_of(const Params &) {
  return {};
}

}  // namespace cudascan::elements
