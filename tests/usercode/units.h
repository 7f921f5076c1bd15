// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Shared by the tests of compiling.
#pragma once
#include <string>

#include "kernels/usercode/code.h"
#include "tests/kernels/operator_test.h"
#include "tests/usercode/support.h"

namespace cudascan::test {

inline const std::string kExported = "extern \"C\" __attribute__((visibility(\"default\"))) ";
inline const std::string kKernel = "extern \"C\" __global__ ";

inline gswo::Unit unit(const std::string &text) {
  return {{"user.cpp", text}, {}, {}};
}

inline bool no_nvrtc() {
  try {
    gswo::compile_for_gpu(unit("__global__ void kernel() {}"), 90, {});
  } catch (const BadSetting &) {
  } catch (const Error &e) {
    return std::string(e.what()).find("no libnvrtc was found") != std::string::npos;
  }
  return false;
}

inline bool no_compiler() {
  try {
    gswo::compile_for_cpu(unit(""), {});
  } catch (const Error &e) {
    return std::string(e.what()).find("none of c++, g++ and clang++ is in PATH") !=
           std::string::npos;
  }
  return false;
}

#define NEED_NVRTC() \
  if (no_nvrtc()) GTEST_SKIP() << "there is no NVRTC"
#define NEED_COMPILER() \
  if (no_compiler()) GTEST_SKIP() << "there is no C++ compiler"

// Both compilers must report the same errors; `compile` is one of them.
template <typename Compile>
void expect_errors_at_lines(const Compile &compile, const std::string &folder) {
  const auto said = [&](const gswo::Unit &u) {
    const std::string message = message_of<BadSetting>([&] { compile(u); });
    EXPECT_FALSE(has(message, folder));
    EXPECT_FALSE(has(message, "/dev/null"));
    EXPECT_FALSE(has(message, "detected in the compilation"));
    return message;
  };
  const std::string undeclared = said(unit("int f(int x) {\n  return x + undeclared_weight;\n}\n"));
  EXPECT_TRUE(undeclared.starts_with("user.cpp:2:")) << undeclared;
  EXPECT_TRUE(has(undeclared, "undeclared_weight"));
  EXPECT_EQ(undeclared.find('\n'), std::string::npos) << undeclared;

  EXPECT_TRUE(said(unit("int a;\n#line 40 \"blur.cpp\"\n\nint b = ;")).starts_with("blur.cpp:41:"));
  gswo::Unit odd = unit("int a = ;");
  odd.main.name = "/home/\"some body\"/blur.cpp";
  EXPECT_TRUE(has(said(odd), "/blur.cpp:1:"));

  gswo::Unit with_header = unit("#include \"gswo/window.h\"\nint f() { return call(1); }\n");
  with_header.headers = {
      {"gswo/window.h", "struct S {};\n\nauto call(auto p) { return p + S{}; }\n"}};
  const std::string in_header = said(with_header);
  EXPECT_TRUE(has(in_header, "gswo/window.h:3:"));
  EXPECT_TRUE(has(in_header, "user.cpp:2") || has(in_header, "at line 2 of user.cpp")) << in_header;

  EXPECT_TRUE(has(said(unit("\n#error use another window\n")), "use another window"));
  EXPECT_TRUE(has(said(unit("#error out of memory")), "user.cpp:1:"));
  EXPECT_TRUE(has(said(unit("\n\n#include <stdio.h>\n")), "user.cpp:3:"));
  EXPECT_TRUE(has(said(unit("#include <stdio.h>\n")), "stdio.h"));
}

}  // namespace cudascan::test
