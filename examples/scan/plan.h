// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What a run will read and write. This is decided before it starts, so that names do not depend on
/// which page is finished first.
#pragma once
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "journal.h"
#include "read.h"

namespace cudascan::scan {

/// A page to make.
struct Item {
  std::string input;   ///< the file, or a name for a scanned page
  int page = 0;        ///< in the file
  int pages = 1;       ///< of the file
  std::string output;  ///< name in the folder
  PageKey key;
  bool done = false;                ///< by an earlier run
  bool skipped = false;             ///< blank and left out by an earlier run, which is done, too
  std::vector<std::string> others;  ///< what earlier runs have made of it with other settings
  std::string problem;              ///< why it cannot be read, or ""
  std::shared_ptr<Document> document;
  /// Its name in messages: the file, and the page if there are several.
  std::string name() const;
};

/// Finds free names in a folder: "page.tif", then "page-1.tif" and so on. Any thread.
class Names {
 public:
  /// @param suffix    with the dot
  /// @param reserved  a name that is needed for something else, or ""
  Names(std::filesystem::path folder, std::string suffix, const std::string &reserved = "");
  /// A name that neither the folder nor an earlier answer has.
  std::string take(const std::string &stem);
  bool is_free(const std::string &stem) const;

 private:
  std::filesystem::path folder_;
  std::string suffix_;
  bool has_room(const std::string &stem) const;

  std::set<std::string> taken_;
  mutable std::mutex mutex_;
};

/// Looks at the files. Files that cannot be read, and pages that cannot be found in them, give an
/// Item with a problem.
std::vector<Item> find_pages(const std::vector<std::string> &inputs);

/// The name of a page without a suffix and without a number that makes it unique.
std::string stem_of(const Item &item);

/// Gives the pages their names.
/// @param journal  of finished pages, or nullptr
void name_pages(std::vector<Item> &plan, Names &names, const Journal *journal);

}  // namespace cudascan::scan
