// SPDX-License-Identifier: LGPL-2.1-or-later
// Nothing is left of compilers that nobody waits for, and of processes that end while a compiler
// runs.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <optional>
#include <thread>

#include "kernels/swofilter.h"
#include "kernels/usercode/child_process.h"
#include "kernels/usercode/replace_file.h"
#include "tests/usercode/support.h"

namespace cudascan::test {
namespace {

using gswo::PrivateFolder;
using gswo::ProcessResult;
using gswo::run_program;

/// Whether the process runs whose ID is in a file. A killed process is gone soon, or stays a zombie
/// if no process waits for it.
bool runs(const std::string &pid_file) {
  const std::string pid = read_file(pid_file);
  if (pid.empty()) return false;
  const std::string status = read_file("/proc/" + pid.substr(0, pid.find('\n')) + "/stat");
  return !status.empty() && status[status.rfind(')') + 2] != 'Z';
}

/// A compiler that never ends. It writes the process ID of a child into a file.
std::string endless_compiler(const PrivateFolder &folder, const std::string &pid_file) {
  return make_script(
      folder, "endless",
      "sleep 600 &\necho $! >" + pid_file + ".new; mv " + pid_file + ".new " + pid_file + "\nwait");
}

SwoFilterParams formula(const std::string &expression) {
  SwoFilterParams p{.op = SwoFilterOperator::custom};
  p.custom.expression = expression;
  p.custom.cache_dir = "";
  return p;
}

TEST(GswoCancel, AProgramIsStopped) {
  const PrivateFolder folder;
  const std::string pid = folder.path() + "/pid", script = endless_compiler(folder, pid);
  std::stop_source stop;
  std::thread other([&] {
    EXPECT_TRUE(soon([&] { return runs(pid); }));
    stop.request_stop();
  });
  const ProcessResult result =
      run_program({script}, folder.path(), {.wall = std::chrono::hours(1)}, stop.get_token());
  other.join();
  EXPECT_EQ(result.end, ProcessResult::End::stopped);
  EXPECT_TRUE(soon([&] { return !runs(pid); }));
  EXPECT_TRUE(std::filesystem::exists(folder.path())) << "the caller's folder must not be removed";
}

TEST(GswoCancel, NothingIsLeftOfAProcessThatEnds) {
  for (const int signal : {SIGTERM, SIGINT, SIGKILL}) {
    SCOPED_TRACE(signal);
    const PrivateFolder folder;
    const std::string pid = folder.path() + "/pid", script = endless_compiler(folder, pid);
    folder.write("work/some/file", "");
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::signal(signal, SIG_DFL);
      run_program({script}, folder.path() + "/work", {.wall = std::chrono::minutes(10)});
      _exit(1);
    }
    EXPECT_TRUE(soon([&] { return runs(pid); }));
    std::this_thread::sleep_for(std::chrono::milliseconds(200));  // until it is guarded
    kill(child, signal);
    waitpid(child, nullptr, 0);
    EXPECT_TRUE(soon([&] { return !runs(pid); }));
    EXPECT_TRUE(soon([&] { return !std::filesystem::exists(folder.path() + "/work"); }));
  }
}

TEST(GswoCancel, AbandonedFoldersAreRemoved) {
  const PrivateFolder temporary;
  const Variable folder("TMPDIR", temporary.path());
  const auto make_old = [&](const std::string &path) {
    const timespec times[] = {{1'000'000, 0}, {1'000'000, 0}};
    utimensat(AT_FDCWD, path.c_str(), times, 0);
  };
  const std::string old = temporary.path() + "/gst-cudascan-abcdef",
                    young = temporary.path() + "/gst-cudascan-ghijkl",
                    other = temporary.path() + "/gst-cudascan-longer-name",
                    link = temporary.path() + "/gst-cudascan-mnopqr";
  for (const std::string &path : {old, young, other}) {
    std::filesystem::create_directory(path);
    write_file(path + "/file", "");
  }
  std::filesystem::create_directory_symlink(other, link);
  make_old(old);
  make_old(other);
  const PrivateFolder used;
  make_old(used.path());
  EXPECT_FALSE(std::filesystem::exists(old));
  const PrivateFolder next;
  for (const std::string &path : {young, other + "/file", link, used.path(), next.path()})
    EXPECT_TRUE(std::filesystem::exists(path)) << path;
}

TEST(GswoCancel, CompilingEndsWithTheLastWhoWantsIt) {
  const PrivateFolder folder, temporary;
  const Variable work("TMPDIR", temporary.path());
  const std::string pid = folder.path() + "/pid";
  const Variable compiler("CUDASCAN_CXX", endless_compiler(folder, pid));
  std::optional<Cpu> first(1), second(1);
  const SwoFilterParams p = formula("p + 4711");
  EXPECT_FALSE(prepare(*first, 1, 0xff, p));
  EXPECT_FALSE(prepare(*second, 1, 0xff, p));
  EXPECT_FALSE(prepare(*second, 1, 0xff, formula("p + 4712")))
      << "the first executor does not need this code";
  ASSERT_TRUE(soon([&] { return runs(pid); }));
  second.reset();
  EXPECT_FALSE(prepare(*first, 1, 0xff, p));
  EXPECT_TRUE(soon([&] { return files_in(temporary.path()).size() == 1; }));
  EXPECT_FALSE(prepare(*first, 1, 0xff, p)) << "the compiler must still run for the first executor";
  first.reset();
  EXPECT_TRUE(soon([&] { return files_in(temporary.path()).empty(); }));
  EXPECT_TRUE(soon([&] { return !runs(pid); }));
  // The same code can be requested again.
  std::filesystem::remove(pid);
  Cpu third(1);
  EXPECT_FALSE(prepare(third, 1, 0xff, p));
  EXPECT_TRUE(soon([&] { return runs(pid); }));
  EXPECT_FALSE(prepare(third, 1, 0xff, p));
}

TEST(GswoReplaceFile, LeavesOtherNamesAlone) {
  const PrivateFolder folder;
  const std::string victim = folder.path() + "/victim", path = folder.path() + "/x.cu";
  write_file(victim, "precious");
  std::filesystem::create_symlink(victim, path + ".part");
  EXPECT_EQ(gswo::replace_file(path, "text"), 0);
  EXPECT_EQ(read_file(path), "text");
  EXPECT_EQ(read_file(victim), "precious");
  // If the name itself is a link, the link is replaced and its target stays.
  std::filesystem::remove(path);
  std::filesystem::create_symlink(victim, path);
  EXPECT_EQ(gswo::replace_file(path, "other"), 0);
  EXPECT_EQ(read_file(path), "other");
  EXPECT_FALSE(std::filesystem::is_symlink(path));
  EXPECT_EQ(read_file(victim), "precious");
  EXPECT_EQ(files_in(folder.path()).size(), 3u) << "there must be no temporary file";

  EXPECT_EQ(gswo::replace_file(folder.path() + "/no/x.cu", "text"), ENOENT);
  EXPECT_EQ(gswo::replace_file(folder.path(), "text"), EISDIR);
  const std::string pipe = folder.path() + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(gswo::replace_file(pipe, "text"), EINVAL);
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  EXPECT_EQ(files_in(folder.path()).size(), 4u);
}

}  // namespace
}  // namespace cudascan::test
