// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Open files and their locks. In folders that others can write to, names may be planted links. No
/// function here follows a link.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "common/error.h"

namespace cudascan::scan {

/// The disk is full, or refuses all writing: no other page can be written either.
class DiskError : public Error {
 public:
  using Error::Error;
};

/// @param number  errno
/// @throws DiskError or, for a problem of one file, Error
[[noreturn]] void fail_to_write(const std::string &what, int number);

/// An open file or folder, closed when it is destroyed.
class OpenFile {
 public:
  explicit OpenFile(int file = -1) : file_(file) {}
  ~OpenFile();
  OpenFile(OpenFile &&other) noexcept : file_(other.release()) {}
  OpenFile &operator=(OpenFile &&other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }

  explicit operator bool() const { return file_ >= 0; }
  int get() const { return file_; }
  /// The caller must close it.
  int release() { return std::exchange(file_, -1); }

  /// Whether the path still names this file.
  bool has_name(const std::filesystem::path &path) const;
  /// @throws Error; DiskError when the disk is full
  void write(std::string_view bytes);
  /// Reads from the current position to the end.
  /// @throws Error when it cannot be read
  std::string read();

 private:
  int file_;
};

/// Whether the name is taken, even by a dangling link.
bool is_there(const std::filesystem::path &path);
/// Whether the name is a regular file, not a link to one.
bool is_regular(const std::filesystem::path &path);

/// Opens a regular file. `flags` are those of open().
/// @return an empty OpenFile if `path` does not exist
/// @throws Error when it is not a regular file (a symbolic link is not one) or cannot be opened
OpenFile open_regular(const std::filesystem::path &path, int flags);

/// Opens a folder, to lock or sync it.
/// @throws Error when it is not a folder, or is a symbolic link to one
OpenFile open_folder(const std::filesystem::path &path);

enum class Lock {
  taken,
  refused,  ///< another process holds it
  unknown,  ///< the file system has no locks
};

/// Locks a folder, or a file that is open for writing, until it is closed. Works against other
/// programs that take the same lock. Does not wait. It is a lock of the kernel: it works across
/// containers, and over a network if the file system supports that. It ends with its owner, even if
/// the owner is killed.
Lock try_lock(const OpenFile &file);

}  // namespace cudascan::scan
