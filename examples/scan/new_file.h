// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Files that appear completely or not at all and never overwrite anything, even if other runs,
/// other containers or an attacker who plants links write to the same folder.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "open_file.h"

namespace cudascan::scan {

/// A file that gets its name in commit(). Until then it is a hidden file with a random name in the
/// folder, locked while it is open. The destructor removes it.
class NewFile {
 public:
  /// @throws Error when it cannot be made
  explicit NewFile(const std::filesystem::path &folder);
  ~NewFile();
  NewFile(const NewFile &) = delete;
  NewFile &operator=(const NewFile &) = delete;

  /// @throws Error; DiskError when the disk is full
  void write(std::string_view bytes) { file_.write(bytes); }
  /// Syncs it to the disk and gives it the name in its folder.
  /// @return false if the name is taken; try another
  /// @throws Error when the disk refuses
  bool commit(const std::string &name);

 private:
  std::filesystem::path folder_, path_;
  OpenFile file_;
};

/// Renames a file on its file system to a name that is not taken.
/// @return false if the name is taken
/// @throws Error when the disk refuses
bool rename_to_free(const std::filesystem::path &from, const std::filesystem::path &to);

/// Removes unfinished files that killed runs have left. Files of running programs are locked and
/// stay; if the file system has no locks, all stay.
void remove_leftovers(const std::filesystem::path &folder);

/// Syncs the names in a folder to the disk.
void sync_folder(const std::filesystem::path &folder);

}  // namespace cudascan::scan
