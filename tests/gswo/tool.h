// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Runs gswo-cc and the C++ compiler.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace cudascan::gswo::test {

/// A temporary folder that is removed with the object.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder &) = delete;
  Folder &operator=(const Folder &) = delete;
  std::string operator/(const std::string &name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

struct Outcome {
  int status = -1;  ///< exit status; -1 if a signal ended it
  int signal = 0;   ///< the signal that ended it; 0 for none
  bool timeout = false;
  std::string output;  ///< standard output
  std::string errors;  ///< standard error
};

/// Runs a program; kills it after a time limit.
Outcome run(const std::vector<std::string> &command, int seconds = 60);
/// Runs gswo-cc.
Outcome translate(std::vector<std::string> arguments);
/// The path of a file in tests/gswo/sources; a whole path stays as it is.
std::string source(const std::string &name);

std::string read(const std::string &path);
void write(const std::string &path, const std::string &text);

/// A loaded shared library.
class Library {
 public:
  explicit Library(const std::string &path);
  /// Compiles a file; throws with the compiler's messages.
  Library(const std::string &path, const std::vector<std::string> &options, const Folder &);
  ~Library();
  Library(const Library &) = delete;
  Library &operator=(const Library &) = delete;

  void *handle() const { return handle_; }
  /// Throws if there is no such function.
  template <typename Function>
  Function *function(const std::string &name) const {
    return reinterpret_cast<Function *>(symbol(name));
  }

 private:
  void open(const std::string &path);
  void *symbol(const std::string &name) const;
  void *handle_ = nullptr;
};

}  // namespace cudascan::gswo::test
