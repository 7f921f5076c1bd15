// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What tests of users' own code in cudaswofilter have in common.
#pragma once
#include <string>
#include <vector>

#include "tests/elements/operators.h"
#include "tests/usercode/support.h"

namespace cudascan::elements {

using test::soon;
using test::TemporaryFile;
using Params = SwoFilterParams;
using Op = SwoFilterOperator;

class CustomFilter : public BackendTest {
 protected:
  /// Without a cache, so that the result depends on the settings only.
  std::string element(const std::string &settings = "") const {
    return launch("cudaswofilter", "cache-dir=\"\" " + settings);
  }
};
inline Params formula(const std::string &expression, int window = 3) {
  Params p{.op = Op::custom, .window = window};
  p.custom.expression = expression;
  p.custom.cache_dir = "";
  return p;
}

/// The text of a property, unshortened.
inline std::string text_of(const Filter &filter, const char *property) {
  g_autofree gchar *text = nullptr;
  g_object_get(filter.element(), property, &text, nullptr);
  return text ? text : "";
}

/// The luma of the next frame.
inline std::vector<std::uint16_t> next(Filter &filter, const Picture &in) {
  return filter.process(in).components[0];
}

}  // namespace cudascan::elements
