// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Shared by the tests of formulas and functions.
#pragma once
#include <string>
#include <vector>

#include "kernels/swofilter.h"
#include "tests/kernels/operator_test.h"
#include "tests/usercode/support.h"

namespace cudascan::test {

using Op = SwoFilterOperator;
using Border = SwoFilterBorder;

inline constexpr Border kBorders[] = {Border::clip, Border::replicate, Border::reflect,
                                      Border::constant};

template <typename T, typename Runner>
std::vector<T> filtered(Runner &runner, const Image<T> &in, const SwoFilterParams &p) {
  Image<T> out(in.width(), in.height(), {}, in.plane().maximum);
  runner(in, out, p);
  return out.samples();
}

inline SwoFilterParams formula(const std::string &expression, int window = 3,
                               Border border = Border::clip) {
  SwoFilterParams p{.op = Op::custom, .window = window, .border = border, .border_value = 77};
  p.custom.expression = expression;
  p.custom.cache_dir = "";
  return p;
}

inline Image<std::uint8_t> picture(int width, int height, Content content = Content::text) {
  return Image<std::uint8_t>(make_content<std::uint8_t>(content, width, height, 0xff), width,
                             height);
}
inline Image<std::uint16_t> deep_picture(int width, int height) {
  return Image<std::uint16_t>(make_content<std::uint16_t>(Content::random, width, height, 0xffc0),
                              width, height, {}, 0xffc0);
}

/// The message with which run() refuses the parameters.
template <typename Runner>
std::string refusal(Runner &runner, const SwoFilterParams &p) {
  const auto in = picture(5, 4);
  try {
    filtered(runner, in, p);
  } catch (const BadSetting &e) {
    return e.what();
  }
  return "";
}

#define EXPECT_CONTAINS(text, part)               \
  EXPECT_NE((text).find(part), std::string::npos) \
      << "\"" << (text) << "\" without \"" << (part) << '"'

inline SwoFilterParams code(const std::string &path, int window = 3, Border border = Border::clip) {
  SwoFilterParams p = formula("", window, border);
  p.custom.source = path;
  p.custom.constants = {{"radius", std::int64_t{2}}, {"amount", 1.25}};
  return p;
}

}  // namespace cudascan::test
