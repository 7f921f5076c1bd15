// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What a run will read and write, decided before it begins, so that names do not depend on which page
/// is ready first.
#pragma once
#include <filesystem>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "journal.h"

namespace cudascan::scan {

/// A page to make.
struct Item {
  std::string input;   ///< the file, or what to call a page of a scanner
  int page = 0;        ///< in the file
  int pages = 1;       ///< of the file
  std::string output;  ///< name in the folder
  PageKey key;
  bool done = false;    ///< by an earlier run
  std::string problem;  ///< why it cannot be read, or ""
  /// How messages call it: file, and page if there are several.
  std::string name() const;
};

/// Names that are free in a folder: "page.tif", then "page-1.tif" and so on. Any thread may ask.
class Names {
 public:
  /// @param suffix  with the dot
  Names(std::filesystem::path folder, std::string suffix);
  /// A name that nothing in the folder and no earlier answer has.
  std::string take(const std::string &stem);
  bool is_free(const std::string &stem) const;

 private:
  std::filesystem::path folder_;
  std::string suffix_;
  bool has_room(const std::string &stem) const;

  std::set<std::string> taken_;
  mutable std::mutex mutex_;
};

/// Looks at the files. Files that cannot be read give an Item with a problem.
/// @param journal  what is done, or nullptr
std::vector<Item> make_plan(const std::vector<std::string> &inputs, Names &names,
                            const Journal *journal);

}  // namespace cudascan::scan
