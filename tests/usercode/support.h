// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Shared by the tests of user code.
#pragma once
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/error.h"
#include "kernels/usercode/private_folder.h"

namespace cudascan::test {

/// Sets an environment variable, or unsets it (nullptr), while the object exists.
class Variable {
 public:
  Variable(const char *name, const char *value) : name_(name) {
    if (const char *before = std::getenv(name)) before_ = before;
    value ? setenv(name, value, 1) : unsetenv(name);
  }
  Variable(const char *name, const std::string &value) : Variable(name, value.c_str()) {}
  ~Variable() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }
  Variable(const Variable &) = delete;
  Variable &operator=(const Variable &) = delete;

 private:
  const char *name_;
  std::optional<std::string> before_;
};

inline std::string read_file(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_file(const std::string &path, const std::string &contents) {
  std::ofstream(path, std::ios::binary) << contents;
}

/// The paths of the files in a folder.
inline std::vector<std::string> files_in(const std::string &folder) {
  std::vector<std::string> files;
  for (const auto &entry : std::filesystem::directory_iterator(folder))
    files.push_back(entry.path());
  return files;
}

/// Writes a shell script.
inline std::string make_script(const gswo::PrivateFolder &folder, const std::string &name,
                               const std::string &commands) {
  folder.write(name, "#!/bin/sh\n" + commands + "\n");
  const std::string path = folder.path() + '/' + name;
  chmod(path.c_str(), 0755);
  return path;
}

/// Calls `done` until it returns true; false after a minute.
inline bool soon(const std::function<bool()> &done) {
  for (int i = 0; i < 6000; ++i) {
    if (done()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

/// A file that is removed with the object.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string &text) { write(text); }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;

  std::string path() const { return path_; }
  /// Writes like an editor: a new file replaces the old one.
  void write(const std::string &text) const {
    const std::string other = path_ + "~";
    std::ofstream(other) << text;
    std::filesystem::rename(other, path_);
  }

 private:
  static std::string new_path() {
    static int count = 0;
    return (std::filesystem::temp_directory_path() /
            ("cudascan-test-" + std::to_string(getpid()) + "-" + std::to_string(count++) + ".cpp"))
        .string();
  }
  std::string path_ = new_path();
};

/// The message of the exception that `call` throws. A failure if it throws none, or one of another
/// type.
template <typename Exception, typename Call>
std::string message_of(const Call &call) {
  try {
    call();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const BadSetting &e) {
    EXPECT_TRUE((std::is_same_v<Exception, BadSetting>)) << "a BadSetting was thrown: " << e.what();
    return e.what();
  } catch (const Error &e) {
    EXPECT_TRUE((std::is_same_v<Exception, Error>)) << "an Error was thrown: " << e.what();
    return e.what();
  }
  return {};
}

/// For use in EXPECT_TRUE.
inline testing::AssertionResult has(const std::string &text, const std::string &part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << '"' << part << "\" is not in \"" << text << '"';
}

}  // namespace cudascan::test
