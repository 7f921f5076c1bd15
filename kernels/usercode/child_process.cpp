// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/usercode/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>

#include "common/error.h"

namespace cudascan::gswo {
namespace {

constexpr std::size_t kMostMessages = 64 << 10;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { ::close(number_); }
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  int get() const { return number_; }

 private:
  int number_;
};

struct FileActions {
  FileActions() { posix_spawn_file_actions_init(&actions); }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions); }
  posix_spawn_file_actions_t actions;
};

// Its own process group, and default signal handling.
struct Attributes {
  Attributes() {
    posix_spawnattr_init(&attributes);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~Attributes() { posix_spawnattr_destroy(&attributes); }
  posix_spawnattr_t attributes;
};

bool kept(std::string_view variable) {
  const std::string_view name = variable.substr(0, variable.find('='));
  for (std::string_view dropped :
       {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "DEPENDENCIES_OUTPUT",
        "SUNPRO_DEPENDENCIES", "LIBRARY_PATH", "LD_PRELOAD", "TMPDIR", "LANGUAGE", "LC_ALL"})
    if (name == dropped) return false;
  return true;
}

std::vector<std::string> environment_for(const std::string &folder) {
  std::vector<std::string> variables = {"TMPDIR=" + folder, "LC_ALL=C"};
  for (char **variable = environ; variable && *variable; ++variable)
    if (kept(*variable)) variables.emplace_back(*variable);
  return variables;
}

std::vector<char *> pointers(std::vector<std::string> &strings) {
  std::vector<char *> pointers;
  for (std::string &string : strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

void limit(pid_t pid, __rlimit_resource resource, std::uint64_t most, std::uint64_t grace = 0) {
  const rlimit limits{most, most + grace};
  prlimit(pid, resource, &limits, nullptr);  // fails if the limit is already lower
}

/// @param input     a descriptor to be stdin
/// @param messages  one to be stdout and stderr
/// @return 0, or the errno of the failure
int spawn(pid_t &pid, std::vector<std::string> program, std::vector<std::string> environment,
          const std::string &folder, int input, int messages) {
  FileActions files;
  posix_spawn_file_actions_adddup2(&files.actions, input, 0);
  posix_spawn_file_actions_adddup2(&files.actions, messages, 1);
  posix_spawn_file_actions_adddup2(&files.actions, messages, 2);
  posix_spawn_file_actions_addchdir_np(&files.actions, folder.c_str());
#if defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 34)
  posix_spawn_file_actions_addclosefrom_np(&files.actions, 3);
#endif
#endif
  const Attributes attributes;
  return posix_spawn(&pid, program[0].c_str(), &files.actions, &attributes.attributes,
                     pointers(program).data(), pointers(environment).data());
}

class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_, O_CLOEXEC) != 0)
      throw Error(std::string("cannot create a pipe to a compiler: ") + std::strerror(errno));
  }
  ~Pipe() {
    close_in();
    ::close(ends_[0]);
  }
  Pipe(const Pipe &) = delete;
  Pipe &operator=(const Pipe &) = delete;
  int out() const { return ends_[0]; }
  int in() const { return ends_[1]; }
  void close_in() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  int ends_[2];
};

/// While it lives, the end of this process kills a group and removes a folder. A parent-death
/// signal is not enough, because it would not reach the children's children; the shell needs
/// nothing from this process.
class Guard {
 public:
  Guard(pid_t group, const std::string &folder, int nowhere) {
    constexpr const char *kScript =
        "read -r gone; kill -s KILL -- \"-$1\"; cd /; exec rm -rf -- \"$2\"";
    if (spawn(pid_, {"/bin/sh", "-c", kScript, "sh", std::to_string(group), folder},
              {"PATH=/usr/bin:/bin"}, "/", life_.out(), nowhere) != 0)
      pid_ = -1;
  }
  ~Guard() {
    if (pid_ < 0) return;
    kill(pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  Guard(const Guard &) = delete;
  Guard &operator=(const Guard &) = delete;

 private:
  Pipe life_;  // closed when this process ends
  pid_t pid_ = -1;
};

// Reads what is available, without waiting; false at the end.
bool read_some(int descriptor, std::string &to) {
  char buffer[4096];
  for (;;) {
    const ssize_t n = ::read(descriptor, buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN;
    if (n == 0) return false;
    to.append(buffer, std::min(static_cast<std::size_t>(n), kMostMessages - to.size()));
  }
}

// Without reaping it, so that its process id is not reused.
bool has_ended(pid_t pid) {
  siginfo_t info{};
  return waitid(P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == pid;
}

}  // namespace

ProcessResult run_program(const std::vector<std::string> &program, const std::string &folder,
                          const ProcessLimits &limits, const std::stop_token &stop) {
  const Descriptor nowhere(open("/dev/null", O_RDWR | O_CLOEXEC));
  Pipe messages;
  pid_t pid = 0;
  if (const int error =
          spawn(pid, program, environment_for(folder), folder, nowhere.get(), messages.in()))
    throw Error("the program " + program[0] + " cannot be started: " + std::strerror(error));
  messages.close_in();
  std::optional<Guard> guard;
  try {
    guard.emplace(pid, folder, nowhere.get());
  } catch (const Error &) {  // no descriptors are left: same as without a shell
  }
  // A compiler needs longer than this to start another program, which then inherits the limits.
  limit(pid, RLIMIT_CPU, limits.cpu_seconds, 2);
  limit(pid, RLIMIT_AS, limits.memory);
  limit(pid, RLIMIT_FSIZE, limits.file);
  limit(pid, RLIMIT_CORE, 0);
  fcntl(messages.out(), F_SETFL, O_NONBLOCK);

  using End = ProcessResult::End;
  ProcessResult result{End::exited, 0, {}};
  const auto deadline = std::chrono::steady_clock::now() + limits.wall;
  bool is_open = true;
  while (!has_ended(pid)) {
    if (stop.stop_requested())
      result.end = End::stopped;
    else if (std::chrono::steady_clock::now() >= deadline)
      result.end = End::timed_out;
    if (result.end != End::exited) break;
    pollfd waiting{messages.out(), POLLIN, 0};
    poll(&waiting, is_open ? 1 : 0, is_open ? 10 : 1);
    if (is_open) is_open = read_some(messages.out(), result.messages);
  }
  kill(-pid, SIGKILL);
  guard.reset();  // while the group's id is not reused
  int status = 0;
  pid_t ended;
  while ((ended = waitpid(pid, &status, 0)) < 0 && errno == EINTR) {
  }
  if (is_open) read_some(messages.out(), result.messages);
  // If the application ignores SIGCHLD, the exit status is lost, but compilers print why they fail.
  if (ended < 0) status = result.messages.empty() ? 0 : 1 << 8;
  if (result.end != End::exited) return result;
  if (WIFSIGNALED(status)) result.end = End::killed;
  result.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

}  // namespace cudascan::gswo
