// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Open files and their locks. Names in folders that others write to may be links that somebody has
/// planted: no function here follows one.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

namespace cudascan::scan {

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
  /// Leaves closing it to the caller.
  int release() { return std::exchange(file_, -1); }

  /// Whether this is the file that the path names.
  bool has_name(const std::filesystem::path &path) const;
  /// @throws Error, for instance when the disk is full
  void write(std::string_view bytes);
  /// From where reading has come to, up to the end.
  /// @throws Error when it cannot be read
  std::string read();

 private:
  int file_;
};

/// Whether something has the name, be it a link to nowhere.
bool is_there(const std::filesystem::path &path);
/// Whether the name is that of a regular file, not of a link to one.
bool is_regular(const std::filesystem::path &path);

/// Opens a regular file. `flags` are those of open().
/// @return without a file where `path` does not exist
/// @throws Error when it is anything but a regular file, a symbolic link included, or cannot be
///         opened
OpenFile open_regular(const std::filesystem::path &path, int flags);

/// Opens a folder, to lock or sync it.
/// @throws Error when it is none, or a symbolic link to one
OpenFile open_folder(const std::filesystem::path &path);

enum class Lock {
  taken,
  refused,  ///< somebody else has it
  unknown,  ///< the file system has no locks
};

/// Locks a file that is open for writing, or a folder, against other programs that do so, until it
/// is closed. Does not wait. The lock is the kernel's: it reaches through containers, and over a
/// network where the file system takes it there; it ends with its owner, also when that is killed.
Lock try_lock(const OpenFile &file);

}  // namespace cudascan::scan
