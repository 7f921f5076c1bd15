// SPDX-License-Identifier: LGPL-2.1-or-later
// User code becomes machine code: what it computes, what is said about code that is wrong, and that
// a compiler which hangs or crashes is survived.
#include "kernels/usercode/code.h"

#include <signal.h>

#include <cmath>
#include <limits>
#include <thread>

#include "kernels/cuda_resources.h"
#include "kernels/usercode/code_cache.h"
#include "kernels/usercode/compile.h"
#include "kernels/usercode/compiler_messages.h"
#include "kernels/usercode/gpu_module.h"
#include "kernels/usercode/includes.h"
#include "kernels/usercode/program_file.h"
#include "kernels/usercode/shared_object.h"
#include "tests/kernels/operator_test.h"
#include "tests/usercode/support.h"

namespace cudascan {
namespace {

using namespace gswo;
using namespace test;

const std::string kExported = "extern \"C\" __attribute__((visibility(\"default\"))) ";
const std::string kKernel = "extern \"C\" __global__ ";

Unit unit(const std::string &text) {
  return {{"user.cpp", text}, {}, {}};
}

bool no_nvrtc() {
  try {
    compile_for_gpu(unit("__global__ void kernel() {}"), 90, {});
  } catch (const BadSetting &) {
  } catch (const Error &e) {
    return std::string(e.what()).find("no libnvrtc was found") != std::string::npos;
  }
  return false;
}

bool no_compiler() {
  try {
    compile_for_cpu(unit(""), {});
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

// Same errors for both: what compile() says of it.
template <typename Compile>
void expect_errors_at_lines(const Compile &compile, const std::string &folder) {
  const auto said = [&](const Unit &u) {
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
  Unit odd = unit("int a = ;");
  odd.main.name = "/home/\"some body\"/blur.cpp";
  EXPECT_TRUE(has(said(odd), "/blur.cpp:1:"));

  Unit with_header = unit("#include \"gswo/window.h\"\nint f() { return call(1); }\n");
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
  EXPECT_EQ(line(a, a, -(1 + std::ldexp(1.f, -11))), 0.f);  // rounded once it is 2^-24
  const auto same = reinterpret_cast<bool (*)(float, float)>(object.symbol("same"));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(same(nan, nan));
  EXPECT_TRUE(same(infinity, infinity));
  const auto sum = reinterpret_cast<float (*)(const float *, int)>(object.symbol("sum"));
  std::vector<float> x(1024, 1.f);
  x[0] = 16777216.f;  // to which 1 is not added, but is to the sums of others
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

/// What the text hides from everybody but a compiler.
TEST(GswoCpu, LooksAtWhatWasIncluded) {
  NEED_COMPILER();
  // A real compiler's rule has every file of the unit.
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

TEST(GswoCompiler, IsLookedFor) {
  const PrivateFolder folder;
  {
    const Variable none("CUDASCAN_CXX", nullptr), path("PATH", folder.path());
    const std::string translator =
        make_script(folder, "translator", "test \"$1 $2\" = '--emit so' && exit 5");
    const Variable chosen("CUDASCAN_GSWO_CC", translator);
    EXPECT_TRUE(has(message_of<Error>([] { compile_for_cpu(unit(""), {}); }),
                    "the C++ compiler " + translator + " does not work (exit status 5)"));
    const Variable wrong("CUDASCAN_GSWO_CC", "/nowhere/gswo-cc");
    EXPECT_TRUE(has(message_of<Error>([] { compile_for_cpu(unit(""), {}); }),
                    "gswo-cc /nowhere/gswo-cc, which the environment variable CUDASCAN_GSWO_CC"));
    const Variable not_chosen("CUDASCAN_GSWO_CC", nullptr);
    if (!find_gswo_cc()) {  // nor is one installed
      const std::string said = message_of<Error>([] { compile_for_cpu(unit(""), {}); });
      EXPECT_TRUE(has(said, "apt install g++"));
      EXPECT_TRUE(has(said, "set CUDASCAN_GSWO_CC"));
    }
  }
  for (const char *wrong : {"/nowhere/c++", "no-such-compiler", "/etc/passwd", "/"}) {
    const Variable chosen("CUDASCAN_CXX", wrong);
    const std::string said = message_of<Error>([] { compile_for_cpu(unit(""), {}); });
    EXPECT_TRUE(has(said, std::string("the C++ compiler ") + wrong + ", which"));
    EXPECT_TRUE(has(said, "CUDASCAN_CXX"));
  }
  make_script(folder, "my-cxx", "exit 3");
  const Variable path("PATH", folder.path()), chosen("CUDASCAN_CXX", "my-cxx");
  EXPECT_TRUE(has(message_of<Error>([] { compile_for_cpu(unit(""), {}); }), "exit status 3"));
}

TEST(GswoCompiler, MayBeEither) {
  for (const char *name : {"g++", "clang++"}) {
    const Variable chosen("CUDASCAN_CXX", name);
    try {
      const SharedObject object(
          compile_for_cpu(unit(kExported + "int f(int x) { return x + 1; }\n"), {}));
      EXPECT_EQ(reinterpret_cast<int (*)(int)>(object.symbol("f"))(1), 2) << name;
    } catch (const Error &e) {
      EXPECT_TRUE(has(e.what(), "is not a program")) << name;
    }
  }
}

TEST(GswoCompiler, FailuresThatAreNotTheCodes) {
  const PrivateFolder folder;
  const auto said = [&](const std::string &commands, const ProcessLimits &limits = {}) {
    const PrivateFolder temporary;
    const Variable chosen("CUDASCAN_CXX", make_script(folder, "cxx", commands));
    const Variable where("TMPDIR", temporary.path());
    const std::string message =
        message_of<Error>([&] { compile_for_cpu(unit("int x;"), {}, limits); });
    EXPECT_TRUE(files_in(temporary.path()).empty());
    return message;
  };
  EXPECT_TRUE(has(said("kill -SEGV $$"), "crashed"));
  EXPECT_TRUE(
      has(said("echo 'user.cpp:1:2: internal compiler error: Segmentation fault' >&2; exit 4"),
          "crashed"));
  EXPECT_TRUE(has(said("echo 'c++: error: unrecognized option -x' >&2; exit 1"),
                  "does not work (exit status 1)"));
  EXPECT_TRUE(has(said("echo 'c++: error: unrecognized option -x' >&2; exit 1"),
                  "\nc++: error: unrecognized option -x"));
  EXPECT_TRUE(has(said("exit 0"), "does not work"));
  EXPECT_TRUE(has(said("echo 'cannot find the license' >&2; exit 1"), "\ncannot find the license"));
  EXPECT_TRUE(has(said("sleep 600", {.wall = std::chrono::milliseconds(200)}), "took too long"));
  EXPECT_TRUE(has(said("while :; do :; done", {.cpu_seconds = 1}), "took too long"));
}

/// g++'s words on them are about templates, which authors of filters have not written.
TEST(GswoCompiler, SaysWhatFiltersCanCall) {
  const std::string known =
      "; filters have those of mathematics, min, max, clamp, swap, sort and nth_element";
  EXPECT_EQ(
      shorten("f.cpp:3:9: error: there are no arguments to 'printf' that depend on a template "
              "parameter, so a declaration of 'printf' must be available [-fpermissive]\n",
              {})
          .text,
      "f.cpp:3:9: error: there is no function 'printf'" + known);
  EXPECT_EQ(shorten("f.cpp:8:14: error: 'vector' is not a member of 'std'\n", {}).text,
            "f.cpp:8:14: error: 'vector' is not a member of 'std'" + known);
  const std::string other = "f.cpp:8:14: error: 'a' was not declared in this scope";
  EXPECT_EQ(shorten(other, {}).text, other);
}

TEST(GswoCompiler, IsStoppedWithAllThatItStarted) {
  const PrivateFolder folder;
  const std::string pid_file = folder.path() + "/pid";
  const std::string script =
      make_script(folder, "cxx", "sleep 600 &\necho $! >" + pid_file + "\nwait");
  std::string pid;
  for (int ms : {300, 3000, 30000}) {  // on a busy machine the script takes its time
    const ProcessResult result =
        run_program({script}, folder.path(), {.wall = std::chrono::milliseconds(ms)});
    EXPECT_EQ(result.end, ProcessResult::End::timed_out);
    pid = read_file(pid_file);
    if (!pid.empty()) break;
  }
  ASSERT_FALSE(pid.empty());
  // Killed it is gone soon, or a zombie where nobody asks for it.
  const std::string stat = "/proc/" + pid.substr(0, pid.find('\n')) + "/stat";
  std::string state;
  for (int i = 0; i < 1000; ++i) {
    const std::string status = read_file(stat);
    state = status.empty() ? "gone" : status.substr(status.rfind(')') + 2, 1);
    if (state == "gone" || state == "Z") break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(state == "gone" || state == "Z") << state;
}

TEST(GswoCompiler, RunsWithinLimits) {
  const PrivateFolder folder;
  const auto run = [&](const std::string &commands) {
    return run_program({make_script(folder, "cxx", commands)}, folder.path(), {.file = 4096});
  };
  const ProcessResult limits =
      run("sleep 0.3; ulimit -v >&2; ulimit -c >&2; ulimit -t >&2; pwd >&2; echo $TMPDIR >&2");
  EXPECT_EQ(limits.messages, std::to_string((std::uint64_t{4} << 30) / 1024) + "\n0\n30\n" +
                                 folder.path() + "\n" + folder.path() + "\n");
  const ProcessResult talk =
      run("i=0; while [ $i -lt 30000 ]; do echo 0123456789 >&2; i=$((i+1)); done; exit 5");
  EXPECT_EQ(talk.messages.size(), 65536u);
  EXPECT_EQ(talk.end, ProcessResult::End::exited);
  EXPECT_EQ(talk.code, 5);
  const Variable preload("LIBRARY_PATH", "/nowhere"), kept("CUDASCAN_TEST_KEPT", "yes");
  EXPECT_EQ(run("echo $LIBRARY_PATH,$CUDASCAN_TEST_KEPT >&2").messages, ",yes\n");
  EXPECT_EQ(run("read line; echo $?$line >&2; kill -TERM $$").messages, "1\n");
  EXPECT_EQ(run("kill -TERM $$").code, SIGTERM);
}

// A compiler that counts.
class GswoCompileCache : public testing::Test {
 protected:
  void SetUp() override {
    NEED_COMPILER();
    std::filesystem::remove(folder_.path() + "/count");
  }
  int compiled() const {
    const std::string lines = read_file(folder_.path() + "/count");
    return static_cast<int>(std::count(lines.begin(), lines.end(), '\n'));
  }
  std::string cache() const { return folder_.path() + "/deep/cache"; }
  std::string compile(const Unit &u) const { return compile_for_cpu(u, {cache()}); }

  PrivateFolder folder_;
  Variable compiler_{
      "CUDASCAN_CXX",
      make_script(folder_, "cxx", "echo >>" + folder_.path() + "/count\nexec c++ \"$@\"")};
  Unit unit_ = unit(kExported + "int x = 5;");
};

TEST_F(GswoCompileCache, CompilesOnce) {
  const std::string code = compile(unit_);
  EXPECT_EQ(compiled(), 1);
  EXPECT_EQ(compile(unit_), code);
  EXPECT_EQ(compiled(), 1);
  EXPECT_EQ(files_in(cache()).size(), 1u);
  struct stat status;
  ASSERT_EQ(stat(cache().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  compile_for_cpu(unit_, {});
  EXPECT_EQ(compiled(), 2);
}

TEST_F(GswoCompileCache, EverythingCounts) {
  compile(unit_);
  std::vector<Unit> others(6, unit_);
  others[0].main.text += "\n";
  others[1].main.name = "other.cpp";
  others[2].defines = {"A=1"};
  others[3].headers = {{"a.h", "int a;"}};
  others[4].headers = {{"a.h", "int b;"}};
  others[5].headers = {{"b.h", "int a;"}};
  int expected = 1;
  for (const Unit &other : others) {
    compile(other);
    EXPECT_EQ(compiled(), ++expected);
  }
  compile(unit_);
  EXPECT_EQ(compiled(), expected);
  make_script(folder_, "cxx", "echo >>" + folder_.path() + "/count\nexec  c++ \"$@\"");
  compile(unit_);
  EXPECT_EQ(compiled(), expected + 1);
}

TEST_F(GswoCompileCache, ErrorsAreNotKept) {
  for (int i = 0; i < 2; ++i)
    EXPECT_TRUE(has(message_of<BadSetting>([&] { compile(unit("int x = ;")); }), "user.cpp:1:"));
  EXPECT_EQ(compiled(), 2);
  EXPECT_TRUE(files_in(cache()).empty());
}

TEST_F(GswoCompileCache, IsSharedByThreads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      const SharedObject object(compile(unit_));
      EXPECT_EQ(*static_cast<int *>(object.symbol("x")), 5);
    });
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(files_in(cache()).size(), 1u);
  const int before = compiled();
  compile(unit_);
  EXPECT_EQ(compiled(), before);
}

TEST(GswoNvrtc, MakesCubinsAndPtx) {
  NEED_NVRTC();
  Unit u = unit("#include <gswo/line.h>\n" + kKernel +
                "void kernel(float *x) { x[1] = line(x[0], SLOPE, x[1]); }\n");
  u.headers = {{"gswo/line.h", "float line(float a, float b, float c) { return a * b + c; }\n"}};
  u.defines = {"SLOPE=x[2]"};
  EXPECT_TRUE(compile_for_gpu(u, 90, {}).starts_with("\177ELF"));
  const std::string ptx = compile_for_gpu(u, 9999, {});
  EXPECT_TRUE(has(ptx, ".target sm_"));
  EXPECT_TRUE(has(ptx, ".entry kernel"));
  EXPECT_EQ(ptx.find('\0'), std::string::npos);
  EXPECT_TRUE(has(ptx, "mul.rn.f32"));  // which, unlike mul.f32, the driver must not fuse
  EXPECT_TRUE(has(ptx, "add.rn.f32"));
  EXPECT_FALSE(has(ptx, "fma"));
  EXPECT_TRUE(has(message_of<Error>([&] { compile_for_gpu(u, 10, {}); }), "this GPU is sm_10"));
}

TEST(GswoNvrtc, ErrorsAreAtTheUsersLines) {
  NEED_NVRTC();
  expect_errors_at_lines([](const Unit &u) { compile_for_gpu(u, 90, {}); }, "/tmp/");
  EXPECT_TRUE(has(message_of<BadSetting>([] {
                    compile_for_gpu(
                        unit("int g(int);\n" + kKernel + "void kernel(int *x) { *x = g(*x); }\n"),
                        90, {});
                  }),
                  "'g(int)'"));
}

TEST(GswoNvrtc, IsNotWaitedForTooLong) {
  NEED_NVRTC();
  const Unit slow = unit(
      "template <int n, int m> struct Sum {\n"
      "  static constexpr long value = Sum<n - 1, 2 * m>::value + Sum<n - 1, 2 * m + "
      "1>::value;\n};\n"
      "template <int m> struct Sum<0, m> { static constexpr long value = m; };\n" +
      kKernel + "void kernel(long *x) { *x = Sum<10, 1>::value; }\n");
  EXPECT_TRUE(
      has(message_of<Error>([&] { compile_for_gpu(slow, 90, {}, std::chrono::milliseconds(1)); }),
          "took too long for user.cpp"));
  EXPECT_FALSE(compile_for_gpu(slow, 90, {}).empty());  // by then the first is done as well
}

TEST(GswoNvrtc, IsNotAskedTwice) {
  NEED_NVRTC();
  const PrivateFolder cache;
  const Unit u = unit(kKernel + "void kernel() {}\n");
  const std::string code = compile_for_gpu(u, 90, {cache.path()});
  ASSERT_EQ(files_in(cache.path()).size(), 1u);
  const std::filesystem::path file = files_in(cache.path()).front();
  std::filesystem::remove(file);
  CodeCache(cache.path()).find_or_make(file.filename(), [] { return std::string("planted"); });
  EXPECT_EQ(compile_for_gpu(u, 90, {cache.path()}), "planted");
  EXPECT_NE(compile_for_gpu(u, 80, {cache.path()}), "planted");
  write_file(file, "damaged");
  EXPECT_EQ(compile_for_gpu(u, 90, {cache.path()}), code);
}

#ifndef EMULATED_GPU
class GswoCudaModule : public testing::Test {
 protected:
  void SetUp() override {
    NEED_GPU();
    NEED_NVRTC();
  }
  static std::vector<int> read(const cuda::DeviceBuffer &buffer, int n, CUstream_st *stream) {
    std::vector<int> values(n);
    cuda::copy_rows(values.data(), 0, buffer.data(), 0, n * sizeof(int), 1, stream);
    Cuda(stream).synchronize();
    return values;
  }
  Unit unit_ = unit("__constant__ int offset; __device__ int factor;\n" + kKernel +
                    "void kernel(int *to, int n) {\n"
                    "  int i = (blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x * blockDim.y +\n"
                    "          threadIdx.y * blockDim.x + threadIdx.x;\n"
                    "  if (i < n) to[i] = factor * i + offset;\n}\n");
};

TEST_F(GswoCudaModule, RunsKernelsWithItsVariables) {
  Unit named = unit_;
  named.main.text = "extern \"C\" {" + unit_.main.text.substr(0, unit_.main.text.find('\n')) + "}" +
                    unit_.main.text.substr(unit_.main.text.find('\n'));
  const cuda::Stream stream;
  // PTX as well: of an architecture that NVRTC does not know, at or below that of the device.
  std::vector<std::string> codes = {compile_for_gpu(named, gpu_architecture(), {})};
  codes.push_back(compile_for_gpu(named, 76, {}));
  for (const std::string &code : codes) {
    GpuModule module(code), other(code);
    constexpr int kN = 1000;
    cuda::DeviceBuffer buffer(kN * sizeof(int));
    void *data = buffer.data();
    int n = kN, offset = 7, factor = 3;
    void *args[] = {&data, &n};
    const auto run = [&](GpuModule &with) {
      with.launch("kernel", 4, 3, 32, 4, stream.get(), args);
      return read(buffer, kN, stream.get());
    };
    module.set_global("offset", &offset, sizeof(offset), stream.get());
    module.set_global("factor", &factor, sizeof(factor), stream.get());
    offset = 100;  // it has been copied
    module.set_global("absent", &offset, sizeof(offset), stream.get());
    const std::vector<int> values = run(module);
    for (int i = 0; i < kN; ++i) ASSERT_EQ(values[i], 3 * i + 7);
    EXPECT_EQ(run(other), std::vector<int>(kN, 0));
    // In the order of the stream: the first launch still sees the first value.
    cuda::DeviceBuffer second(kN * sizeof(int));
    void *second_data = second.data();
    void *second_args[] = {&second_data, &n};
    module.launch("kernel", 4, 3, 32, 4, stream.get(), args);
    module.set_global("offset", &offset, sizeof(offset), stream.get());
    module.launch("kernel", 4, 3, 32, 4, stream.get(), second_args);
    EXPECT_EQ(read(buffer, kN, stream.get())[5], 22);
    EXPECT_EQ(read(second, kN, stream.get())[5], 115);
  }
}

TEST_F(GswoCudaModule, SaysWhatIsWrong) {
  GpuModule module(compile_for_gpu(unit_, gpu_architecture(), {}));
  EXPECT_TRUE(has(message_of<Error>([&] { module.launch("absent", 1, 1, 1, 1, nullptr, nullptr); }),
                  "looking for the kernel absent"));
  EXPECT_TRUE(
      has(message_of<Error>([] { GpuModule("neither cubin nor PTX"); }), "loading the code"));
  std::string ptx = compile_for_gpu(unit_, 76, {});
  ptx.insert(ptx.find("ret;"), "no.such.instruction;\n");
  EXPECT_TRUE(has(message_of<Error>([&] { GpuModule{ptx}; }), "ptxas"));
}
#endif

#ifndef HAVE_CUDA
TEST(GswoModule, NeedsCuda) {
  EXPECT_TRUE(has(message_of<Error>([] { GpuModule("code"); }), "has no CUDA"));
}
#endif

}  // namespace
}  // namespace cudascan
