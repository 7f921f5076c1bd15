// SPDX-License-Identifier: LGPL-2.1-or-later
#include "run_program.h"

#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>

#include "clock.h"
#include "common/error.h"
#include "open_file.h"

namespace cudascan::scan {
namespace {

[[noreturn]] void fail(const std::string &program, int number) {
  throw Error(program + ": " + std::strerror(number));
}

OpenFile file_in_memory(const std::string &program) {
  OpenFile file(memfd_create("cudascan-scan", MFD_CLOEXEC));
  if (!file) fail(program, errno);
  return file;
}

std::string contents(OpenFile &file) {
  lseek(file.get(), 0, SEEK_SET);
  return file.read();
}

std::vector<char *> pointers(const std::vector<std::string> &words) {
  std::vector<char *> result;
  for (const std::string &word : words) result.push_back(const_cast<char *>(word.c_str()));
  result.push_back(nullptr);
  return result;
}

/// How posix_spawnp() starts it.
class Setup {
 public:
  Setup() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, 0);
    sigset_t signals;
    sigemptyset(&signals);
    for (const int number : {SIGPIPE, SIGXFSZ}) sigaddset(&signals, number);
    posix_spawnattr_setsigdefault(&attributes, &signals);
  }
  ~Setup() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  Setup(const Setup &) = delete;
  Setup &operator=(const Setup &) = delete;
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
};

/// @return why it did not end well, or ""
std::string wait_for(pid_t child, double seconds) {
  const auto begin = Clock::now();
  auto pause = std::chrono::milliseconds(1);
  constexpr auto kLongest = std::chrono::milliseconds(20);
  bool killed = false;
  for (;;) {
    int status = 0;
    const pid_t ended = waitpid(child, &status, killed ? 0 : WNOHANG);
    if (ended < 0 && errno != EINTR) return std::strerror(errno);
    if (ended == child) {
      if (killed) return "took longer than " + std::to_string(std::lround(seconds)) + " s";
      if (WIFSIGNALED(status)) return "ended by signal " + std::to_string(WTERMSIG(status));
      const int code = WEXITSTATUS(status);
      return code == 0 ? "" : "exit status " + std::to_string(code);
    }
    if (!killed && ms_since(begin) > 1000 * seconds) killed = kill(child, SIGKILL) == 0;
    if (!killed) std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kLongest);
  }
}

}  // namespace

Outcome run_program(const std::vector<std::string> &words, const std::string &input,
                    const std::vector<std::string> &environment, double seconds) {
  const std::string &program = words.at(0);
  OpenFile in = file_in_memory(program), out = file_in_memory(program),
           errors = file_in_memory(program);
  in.write(input);
  lseek(in.get(), 0, SEEK_SET);
  Setup setup;
  posix_spawn_file_actions_adddup2(&setup.actions, in.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&setup.actions, out.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&setup.actions, errors.get(), STDERR_FILENO);
  std::vector<std::string> all = environment;
  for (char **variable = environ; *variable; ++variable) all.emplace_back(*variable);
  pid_t child = 0;
  const int problem = posix_spawnp(&child, program.c_str(), &setup.actions, &setup.attributes,
                                   pointers(words).data(), pointers(all).data());
  if (problem != 0) fail(program, problem);
  Outcome outcome;
  outcome.problem = wait_for(child, seconds);
  outcome.output = contents(out);
  outcome.errors = contents(errors);
  return outcome;
}

}  // namespace cudascan::scan
