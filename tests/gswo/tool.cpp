// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tool.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace cudascan::gswo::test {

Folder::Folder() {
  std::string name = std::filesystem::temp_directory_path() / "gswo-test-XXXXXX";
  if (!mkdtemp(name.data())) throw std::runtime_error("can't make a folder like " + name);
  path_ = name;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Outcome run(const std::vector<std::string> &command, int seconds) {
  const Folder folder;
  const std::string out = folder / "out", err = folder / "err";
  std::vector<char *> arguments;
  for (const std::string &word : command) arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    dup2(open(out.c_str(), O_WRONLY | O_CREAT, 0600), 1);
    dup2(open(err.c_str(), O_WRONLY | O_CREAT, 0600), 2);
    setpgid(0, 0);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  Outcome outcome;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > end && !outcome.timeout) {
      outcome.timeout = true;
      kill(-child, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  if (WIFEXITED(status)) outcome.status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
  outcome.output = read(out);
  outcome.errors = read(err);
  return outcome;
}

Outcome translate(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), GSWO_CC);
  return run(arguments);
}

std::string source(const std::string &name) {
  return name[0] == '/' ? name : GSWO_SOURCES "/" + name;
}

std::string read(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write(const std::string &path, const std::string &text) {
  std::ofstream(path, std::ios::binary) << text;
}

Library::Library(const std::string &path, const std::vector<std::string> &options,
                 const Folder &folder) {
  static int number = 0;
  const std::string library = folder / ("library" + std::to_string(number++) + ".so");
  std::istringstream compiler(GSWO_CXX);
  std::vector<std::string> command;
  for (std::string word; compiler >> word;) command.push_back(word);
  command.insert(command.end(), options.begin(), options.end());
  command.insert(command.end(), {"-fPIC", "-shared", path, "-o", library});
  const Outcome outcome = run(command);
  if (outcome.status) throw std::runtime_error("compiling " + path + ":\n" + outcome.errors);
  if (!outcome.errors.empty())
    throw std::runtime_error("warnings for " + path + ":\n" + outcome.errors);
  open(library);
}

Library::Library(const std::string &path) {
  open(path);
}

void Library::open(const std::string &path) {
  handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle_) throw std::runtime_error(dlerror());
}

Library::~Library() {
  if (handle_) dlclose(handle_);
}

void *Library::symbol(const std::string &name) const {
  void *found = dlsym(handle_, name.c_str());
  if (!found) throw std::runtime_error(dlerror());
  return found;
}

}  // namespace cudascan::gswo::test
