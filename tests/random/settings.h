// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Random settings of the operators as users could set them: most are legal, some must be refused.
#pragma once
#include <optional>
#include <string>
#include <type_traits>
#include <typeinfo>

#include "tests/random/draws.h"
#include "tests/random/random_settings.h"  // the files of operators; from meson.build

namespace cudascan::test {

/// Draws settings. By default, they stay unchanged.
template <typename Params>
void draw(Dice &, const Frame &, Params &) {}

/// Approximate number of samples that the slower backend reads for each pixel.
template <typename Params>
double cost(const Params &) {
  return 20;
}

/// How often the operator is drawn, relative to the others.
template <typename Params>
int share(const Params &) {
  return 1;
}

/// All settings as text, to repeat a case by hand.
template <typename Params>
std::string text_of(const Params &) {
  return std::string("default settings of ") + typeid(Params).name();
}

/// Other settings that must give the same result, if the operator has such settings.
template <typename Params>
std::optional<Params> plain_form(const Params &) {
  return {};
}

/// The whole report as text, for comparisons.
template <typename Report>
std::string text(const Report &) {
  static_assert(std::is_empty_v<Report>,
                "tests/random/<operator>.h must have text(const Report &)");
  return "";
}

}  // namespace cudascan::test
