// SPDX-License-Identifier: LGPL-2.1-or-later
// Compiling user code to machine code: its results, and messages about mistakes.
#include "kernels/usercode/code.h"

#include <cmath>
#include <limits>

#include "kernels/usercode/includes.h"
#include "kernels/usercode/shared_object.h"
#include "tests/usercode/units.h"

namespace cudascan {
namespace {

using namespace gswo;
using namespace test;

TEST(GswoCpu, RunsWhatWasCompiled) {
  NEED_COMPILER();
  Unit u = unit("#include \"gswo/square.h\"\n" + kExported +
                "int f(int x) { return square(x) + OFFSET; }\n" + kExported + "int count = 3;\n");
  u.headers = {{"gswo/square.h",
                "#pragma once\n#include <depth.h>\n"
                "constexpr int square(int x) { return depth(x * x); }\n"},
               {"depth.h", "constexpr int depth(int x) { return x; }\n"}};
  u.defines = {"OFFSET=-7", "UNUSED"};
  const SharedObject object(compile_for_cpu(u, {}));
  const auto f = reinterpret_cast<int (*)(int)>(object.symbol("f"));
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f(12), 137);
  EXPECT_EQ(*static_cast<int *>(object.symbol("count")), 3);
  EXPECT_EQ(object.symbol("missing"), nullptr);
}

TEST(GswoCpu, RoundsAndComparesAsWritten) {
  NEED_COMPILER();
  const SharedObject object(compile_for_cpu(
      unit(kExported + "float line(float a, float b, float c) { return a * b + c; }\n" + kExported +
           "bool same(float a, float b) { return a == b; }\n" + kExported +
           "float sum(const float *x, int n) { float s = 0; for (int i = 0; i < n; ++i) s += x[i]; "
           "return s; }\n"),
      {}));
  const auto line = reinterpret_cast<float (*)(float, float, float)>(object.symbol("line"));
  const float a = 1 + std::ldexp(1.f, -12);
  EXPECT_EQ(line(a, a, -(1 + std::ldexp(1.f, -11))), 0.f);  // with a single rounding it is 2^-24
  const auto same = reinterpret_cast<bool (*)(float, float)>(object.symbol("same"));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(same(nan, nan));
  EXPECT_TRUE(same(infinity, infinity));
  const auto sum = reinterpret_cast<float (*)(const float *, int)>(object.symbol("sum"));
  std::vector<float> x(1024, 1.f);
  x[0] = 16777216.f;  // too large to add 1, but partial sums of other samples can be added
  EXPECT_EQ(sum(x.data(), 1024), 16777216.f);
}

TEST(GswoCpu, ErrorsAreAtTheUsersLines) {
  NEED_COMPILER();
  const PrivateFolder folder;
  const Variable temporary("TMPDIR", folder.path());
  expect_errors_at_lines([](const Unit &u) { compile_for_cpu(u, {}); }, folder.path());
  const std::string undefined = message_of<BadSetting>([] {
    compile_for_cpu(unit("int g(int);\n" + kExported + "int f(int x) {\n  return g(x);\n}\n"), {});
  });
  EXPECT_EQ(undefined, "user.cpp:3: undefined reference to `g(int)'");
  EXPECT_TRUE(files_in(folder.path()).empty());
}

TEST(GswoCpu, ManyErrorsAreCutShort) {
  NEED_COMPILER();
  std::string text;
  for (int i = 0; i < 500; ++i) text += "int a" + std::to_string(i) + " = b;\n";
  const std::string said = message_of<BadSetting>([&] { compile_for_cpu(unit(text), {}); });
  EXPECT_LE(std::count(said.begin(), said.end(), '\n'), 20) << said;
}

TEST(GswoCpu, BadUnitsAreRefused) {
  for (const char *name : {"", "/etc/x.h", "../x.h", "a/../x.h", "a//x.h", "./x.h", "a\"b"}) {
    Unit u = unit("");
    u.headers = {{name, ""}};
    EXPECT_TRUE(has(message_of<BadSetting>([&] { compile_for_cpu(u, {}); }), "header")) << name;
  }
  Unit twice = unit("");
  twice.headers = {{"x.h", ""}, {"x.h", "1"}};
  EXPECT_TRUE(has(message_of<BadSetting>([&] { compile_for_cpu(twice, {}); }), "x.h"));
  for (const char *define : {"", "=1", "1A=2", "A B=1", "-DA", "A=1\n2"}) {
    Unit u = unit("");
    u.defines = {define};
    EXPECT_TRUE(has(message_of<BadSetting>([&] { compile_for_cpu(u, {}); }), "NAME=VALUE"))
        << define;
  }
}

TEST(GswoCode, UserCodeCanBeTurnedOff) {
  for (const char *value : {"1", "yes"}) {
    const Variable off("CUDASCAN_NO_USER_CODE", value);
    EXPECT_TRUE(has(message_of<BadSetting>([] { compile_for_cpu(unit(""), {}); }),
                    "turned off by the environment variable CUDASCAN_NO_USER_CODE"));
    EXPECT_TRUE(has(message_of<BadSetting>([] { compile_for_gpu(unit(""), 90, {}); }),
                    "turned off by the environment variable CUDASCAN_NO_USER_CODE"));
  }
  NEED_COMPILER();
  for (const char *value : {"0", ""}) {
    const Variable on("CUDASCAN_NO_USER_CODE", value);
    EXPECT_FALSE(compile_for_cpu(unit(kExported + "int x;"), {}).empty());
  }
}

TEST(GswoCode, FilesOutsideAreRefused) {
  const struct {
    const char *text;
    int line;
  } refused[] = {
      {"#include \"/etc/passwd\"", 1},
      {"\n#include </etc/hostname>\n", 2},
      {"\n  #  include\t<../x.h>", 2},
      {"#include \"a/../../x.h\"", 1},
      {"#inc\\\nlude \"/etc/passwd\"", 2},
      {"/* */ # /* \n */ include /**/ \"/etc/passwd\"", 2},
      {"%:include \"/etc/passwd\"", 1},
      {"#define WHERE \"/etc/passwd\"\n#include WHERE", 2},
      {"#if 0\n#include_next </etc/passwd>\n#endif", 2},
      {"#import \"/etc/passwd\"", 1},
      {"int a[] = {\n#embed \"/etc/passwd\"\n};", 2},
      {"#if __has_include(\"/etc/passwd\")\n#endif", 1},
      {"#if 1 && __has_embed ( </etc/passwd> )\n#endif", 1},
      {"#if __has_include(WHERE)\n#endif", 1},
      {"import \"/etc/passwd\";", 1},
      {"#pragma GCC dependency \"/etc/passwd\"", 1},
      {"\n_Pragma(\"GCC dependency \\\"/etc/passwd\\\"\")", 2},
      {"asm(\".incbin \\\"/etc/passwd\\\"\");", 1},
      {"asm(R\"(\n.include \"/etc/passwd\")\");", 1},
      {"int a = 1'000; // '\n#include \"/etc/passwd\"", 2},
      {"const char *a = \"/*\";\n#include \"/etc/passwd\" // */", 2},
      {"const char *a = R\"x(\n)\" /* )x\";\n#include \"/etc/passwd\" // */", 3},
      {"// don't\n#define A 'x'\n#include \"/etc/passwd\"", 3},
      {"#define xR\nconst char *a = xR\"(\";\n#include \"/etc/passwd\"\n// )\"", 3},
      {"int a = 1'\"';\n#include \"/etc/passwd\"\n// '\"", 2},
      {"asm(\".inc\" /* */\n \"bin \\\"/etc/passwd\\\"\");", 2},
      {"asm(\".inc\" u8\"bin \\\"/etc/passwd\\\"\");", 1},
      {"\n#define HAS __has_include\n#if HAS(\"/etc/passwd\")\n#endif", 2},
  };
  for (const auto &[text, line] : refused) {
    const std::string place = "user.cpp:" + std::to_string(line) + ": error: ";
    EXPECT_TRUE(has(message_of<BadSetting>([&] { check_includes(unit(text)); }), place)) << text;
    EXPECT_TRUE(has(message_of<BadSetting>([&] { compile_for_gpu(unit(text), 90, {}); }), place));
    EXPECT_TRUE(has(message_of<BadSetting>([&] { compile_for_cpu(unit(text), {}); }), place));
  }
  EXPECT_TRUE(has(message_of<BadSetting>([] {
                    check_includes(unit("#line 90 \"a\\\"b.cpp\"\n\n#include \"/etc/passwd\""));
                  }),
                  "a\"b.cpp:91: error: "));
  Unit header = unit("");
  header.headers = {{"x.h", "\n# 5 \"y.h\" 2\n#include \"/etc/passwd\""}};
  EXPECT_TRUE(has(message_of<BadSetting>([&] { check_includes(header); }), "y.h:5: error: "));
}

TEST(GswoCode, OtherTextsAreLeftToTheCompiler) {
  for (const char *text : {"#include \"gswo/window.h\"",
                           "#ifdef __has_include\n#if __has_include(<math.h>)\n#endif\n#endif",
                           "// #include \"/etc/passwd\"", "/*\n#include \"/etc/passwd\"\n*/",
                           "const char *a = R\"(\n#include \"/etc/passwd\"\n)\";",
                           "const char *a = \"#include </etc/x>\";", "#define TEXT(x) #x",
                           "int a = b / c; // /etc", "#pragma once", "int include = 3, import = 4;",
                           "#if defined(__has_include) && __has_include(<math.h>)\n#endif",
                           "const char *a = \".inc\"; const char *b = \"bin\";"})
    EXPECT_NO_THROW(check_includes(unit(text))) << text;
}

/// Includes that only a compiler can see.
TEST(GswoCpu, LooksAtWhatWasIncluded) {
  NEED_COMPILER();
  // The dependency rule of a real compiler lists every file of the unit.
  Unit u = unit("#include \"a.h\"\n" + kExported + "int f() { return 3; }\n");
  u.headers = {{"a.h", "#include <b/c.h>\n"}, {"b/c.h", ""}};
  EXPECT_FALSE(compile_for_cpu(u, {}).empty());
  const std::string rule = "/t/code.so: /t/main/main.cpp \\\n /t/headers/gswo/window.h";
  EXPECT_NO_THROW(check_included(u, rule, "/t"));
  EXPECT_NO_THROW(check_included(u, "", "/t"));
  EXPECT_NO_THROW(check_included(u, "/a\\ b$$/code.so: /a\\ b$$/main/main.cpp\n", "/a b$"));
  for (const std::string name : {"/etc/passwd", "/t2/main.cpp", "near.h"}) {
    const std::string said =
        message_of<BadSetting>([&] { check_included(u, rule + " \\\n " + name + "\n", "/t"); });
    EXPECT_TRUE(has(said, "user.cpp:1: error: the file \"" + name + "\" is included")) << said;
  }
}

TEST(GswoCpu, FindsHeadersOfTheUnitOnly) {
  NEED_COMPILER();
  const PrivateFolder here;
  here.write("beside.h", "");
  here.write("near.h", "");
  const Variable path("CPATH", here.path());
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(here.path());
  const Unit u = unit(
      "#if __has_include(\"near.h\") || __has_include(<stdlib.h>)\n#error found\n"
      "#endif\n#include \"beside.h\"\n");
  const std::string said = message_of<BadSetting>([&] { compile_for_cpu(u, {}); });
  const bool without_nvrtc = no_nvrtc();
  const std::string said_for_gpu =
      without_nvrtc ? said : message_of<BadSetting>([&] { compile_for_gpu(u, 90, {}); });
  std::filesystem::current_path(before);
  EXPECT_TRUE(said.starts_with("user.cpp:4:")) << said;
  EXPECT_TRUE(said_for_gpu.starts_with("user.cpp:4:")) << said_for_gpu;
}

}  // namespace
}  // namespace cudascan
