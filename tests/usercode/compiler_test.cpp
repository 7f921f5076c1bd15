// SPDX-License-Identifier: LGPL-2.1-or-later
// The compiler of users' code: how it is found, its limits, and that compiled code is cached.
#include <signal.h>

#include <algorithm>
#include <thread>

#include "kernels/usercode/code_cache.h"
#include "kernels/usercode/compile.h"
#include "kernels/usercode/compiler_messages.h"
#include "kernels/usercode/program_file.h"
#include "kernels/usercode/shared_object.h"
#include "tests/usercode/units.h"

namespace cudascan {
namespace {

using namespace gswo;
using namespace test;

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
    if (!find_gswo_cc()) {  // and none is installed
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

/// The compiler's own message mentions templates, which users of filters do not know.
TEST(GswoCompiler, SaysWhatFiltersCanCall) {
  const std::string known =
      "; filters can use mathematical functions, min, max, clamp, swap, sort and nth_element";
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

TEST(GswoCompiler, LinkersErrorsHaveOnlyThePlace) {
  constexpr const char *kWanted = "f.cpp:3: undefined reference to `g(int)'";
  EXPECT_EQ(shorten("/usr/bin/ld: f.cpp:3: undefined reference to `g(int)'\n", {}).text, kWanted);
  EXPECT_EQ(shorten("/usr/bin/ld: /tmp/a.o: in function `f(int)':\n"
                    "f.cpp:3:(.text+0x5): undefined reference to `g(int)'\n",
                    {})
                .text,
            kWanted);
}

TEST(GswoCompiler, IsStoppedWithAllThatItStarted) {
  const PrivateFolder folder;
  const std::string pid_file = folder.path() + "/pid";
  const std::string script =
      make_script(folder, "cxx", "sleep 600 &\necho $! >" + pid_file + "\nwait");
  std::string pid;
  for (int ms : {300, 3000, 30000}) {  // the script may be slow on a busy machine
    const ProcessResult result =
        run_program({script}, folder.path(), {.wall = std::chrono::milliseconds(ms)});
    EXPECT_EQ(result.end, ProcessResult::End::timed_out);
    pid = read_file(pid_file);
    if (!pid.empty()) break;
  }
  ASSERT_FALSE(pid.empty());
  // A killed process is gone soon, or stays a zombie if no process waits for it.
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

// A compiler that counts how often it runs.
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

}  // namespace
}  // namespace cudascan
