// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "journal.h"
#include "new_file.h"

namespace cudascan::scan {

/// The files of one page: the page, and those that --also adds. They get their names together.
class PageSet {
 public:
  /// Adds a file and writes it under a hidden name. The bytes must live as long as the set.
  /// @throws Error; DiskError when the disk is full
  void add(const std::filesystem::path &folder, const std::string &bytes);
  /// Gives the files their names, in the order in which they were added.
  /// @param digests  SHA-256 of each
  /// @param partly   an earlier run was killed here: files with these names and contents are there
  /// @return false if a name is taken; then no file has got one, and others may be tried
  /// @throws Error when the disk refuses
  bool commit(const std::vector<std::string> &names, const std::vector<std::string> &digests,
              bool partly);

 private:
  struct File {
    std::filesystem::path folder;
    const std::string *bytes;
    std::unique_ptr<NewFile> file;
  };
  static void write(File &file);

  std::vector<File> files_;
};

}  // namespace cudascan::scan
