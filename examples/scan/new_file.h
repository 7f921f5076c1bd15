// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Files that are there completely or not at all, and overwrite nothing, whoever else writes to the
/// folder: other runs, in other containers, or somebody who plants links.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "open_file.h"

namespace cudascan::scan {

/// A file without its name until commit(): a hidden one in the folder with a random name, locked as
/// long as it is open. Gone when it is destroyed.
class NewFile {
 public:
  /// @throws Error when it cannot be made
  explicit NewFile(const std::filesystem::path &folder);
  ~NewFile();
  NewFile(const NewFile &) = delete;
  NewFile &operator=(const NewFile &) = delete;

  /// @throws Error, for instance when the disk is full
  void write(std::string_view bytes) { file_.write(bytes); }
  /// Brings it to the disk and gives it the name in its folder.
  /// @return false if something has that name; try another
  /// @throws Error when the disk refuses
  bool commit(const std::string &name);

 private:
  std::filesystem::path folder_, path_;
  OpenFile file_;
};

/// Gives a file another name on its file system, which nothing has.
/// @return false if something has that name
/// @throws Error when the disk refuses
bool rename_to_free(const std::filesystem::path &from, const std::filesystem::path &to);

/// Removes what killed runs have left of their new files. Those of living runs are locked and stay;
/// where the file system has no locks, all stay.
void remove_leftovers(const std::filesystem::path &folder);

/// Brings the names in a folder to the disk.
void sync_folder(const std::filesystem::path &folder);

}  // namespace cudascan::scan
