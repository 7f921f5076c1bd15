// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Files that are there completely or not at all, and overwrite nothing.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace cudascan::scan {

/// A file without its name: a temporary one in the folder, until commit(). Gone when it is destroyed.
class NewFile {
 public:
  /// @throws Error when it cannot be made
  explicit NewFile(const std::filesystem::path &folder);
  ~NewFile();
  NewFile(const NewFile &) = delete;
  NewFile &operator=(const NewFile &) = delete;

  /// @throws Error, for instance when the disk is full
  void write(std::string_view bytes);
  /// Brings it to the disk and gives it the name in its folder.
  /// @return false if something has that name; try another
  /// @throws Error when the disk refuses
  bool commit(const std::string &name);

 private:
  std::filesystem::path folder_, path_;
  int file_ = -1;
};

/// Removes what killed programs have left of their temporary files; those of living ones are locked.
/// @return how many
int remove_leftovers(const std::filesystem::path &folder);

/// Brings the names in a folder to the disk.
void sync_folder(const std::filesystem::path &folder);

}  // namespace cudascan::scan
