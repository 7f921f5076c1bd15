// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Shared by the tests of sources with pragmas in the library.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "kernels/swofilter.h"
#include "tests/kernels/operator_test.h"
#include "tests/usercode/support.h"

namespace cudascan::test {

using Constants = std::vector<UserFilterConstant>;

/// The operator custom with a source file and without a cache.
inline SwoFilterParams source_filter(const std::string &path, Constants constants = {}) {
  SwoFilterParams p{.op = SwoFilterOperator::custom};
  p.custom.source = path;
  p.custom.constants = std::move(constants);
  p.custom.cache_dir = "";
  return p;
}

template <typename T, typename Runner>
std::vector<T> filtered(Runner &runner, const Image<T> &in, const SwoFilterParams &p) {
  Image<T> out(in.width(), in.height(), {}, in.plane().maximum);
  runner(in, out, p);
  EXPECT_TRUE(out.guards_intact());
  return out.samples();
}

template <typename T = std::uint8_t>
Image<T> picture(Size size, Content content = Content::text,
                 T maximum = std::numeric_limits<T>::max()) {
  return Image<T>(make_content<T>(content, size.width, size.height, maximum), size.width,
                  size.height, {}, maximum);
}

/// The message with which run() refuses the parameters; "" if it accepts them.
template <typename Runner>
std::string refusal(Runner &runner, const SwoFilterParams &p) {
  try {
    filtered(runner, picture({5, 4}), p);
  } catch (const BadSetting &e) {
    return e.what();
  }
  return "";
}

/// The result in the middle of a picture that is 127 everywhere.
inline int of_gray(CpuRunner &cpu, const SwoFilterParams &p) {
  return filtered(cpu, picture({5, 3}, Content::gray), p)[7];
}

/// Files in a temporary folder that is removed with the object.
class Files {
 public:
  std::string write(const std::string &name, const std::string &text) const {
    folder_.write(name, text);
    return folder_.path() + '/' + name;
  }
  const gswo::PrivateFolder &folder() const { return folder_; }
  std::string operator/(const std::string &name) const { return folder_.path() + '/' + name; }

 private:
  gswo::PrivateFolder folder_;
};

/// A source text: the function `name` with one window, for images of float.
inline std::string one_window(const std::string &body, const std::string &parameters = "",
                              const std::string &name = "window_filter") {
  return "void " + name + "(float **in, float **out, int height, int width" + parameters +
         ") {\n#pragma parallel\n  {\n#pragma for nest(2)\n    for (int i = 0; i < height; i++)\n"
         "      for (int j = 0; j < width; j++) {\n        " +
         body + "\n      }\n  }\n}\n";
}
/// The line number of `body` in that text.
inline constexpr int kBodyLine = 7;

}  // namespace cudascan::test
