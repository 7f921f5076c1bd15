// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Random settings of the operators, as users could set them: mostly legal, sometimes one that must
/// be refused.
#pragma once
#include <optional>
#include <string>
#include <type_traits>
#include <typeinfo>

#include "tests/random/draws.h"
#include "tests/random/random_settings.h"  // the files of operators; from meson.build

namespace cudascan::test {

/// Draws settings; by default they stay as they are.
template <typename Params>
void draw(Dice &, const Frame &, Params &) {}

/// About the samples that are looked at for each pixel by the slower of the two backends.
template <typename Params>
double cost(const Params &) {
  return 20;
}

/// How often the operator is drawn, compared with the others.
template <typename Params>
int share(const Params &) {
  return 1;
}

/// All settings, to repeat a case by hand.
template <typename Params>
std::string text_of(const Params &) {
  return std::string("default settings of ") + typeid(Params).name();
}

/// Other settings that must give the same result, where an operator has such.
template <typename Params>
std::optional<Params> plain_form(const Params &) {
  return {};
}

/// Everything that was reported, for comparing.
template <typename Report>
std::string text(const Report &) {
  static_assert(std::is_empty_v<Report>,
                "tests/random/<operator>.h must have text(const Report &)");
  return "";
}

}  // namespace cudascan::test
