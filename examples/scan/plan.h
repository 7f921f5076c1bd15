// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What a run will read and write. This is decided before it starts, so that names do not depend on
/// which page is finished first.
#pragma once
#include <array>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "journal.h"
#include "read.h"
#include "split.h"

namespace cudascan::scan {

/// What becomes of the left or the right half of an Item.
struct Half {
  std::string output;   ///< name in the folder
  bool done = false;    ///< by an earlier run
  bool partly = false;  ///< an earlier run has made some of its files
  bool skipped = false;
};

/// A page to make, or an image that becomes two pages.
struct Item {
  std::string input;                    ///< the file, or a name for a scanned page
  int page = 0;                         ///< in the file
  int pages = 1;                        ///< of the file
  std::string output;                   ///< name in the folder; "" if it surely becomes two pages
  std::array<Half, kMostPages> halves;  ///< named if it may become two pages
  PageKey key;
  bool done = false;                ///< by an earlier run, as a whole or both halves
  bool partly = false;              ///< an earlier run has made some of its files
  bool skipped = false;             ///< blank and left out by an earlier run, which is done, too
  std::vector<std::string> others;  ///< what earlier runs have made of it with other settings
  std::string problem;              ///< why it cannot be read, or ""
  std::shared_ptr<Document> document;
  /// Its name in messages: the file, and the page if there are several.
  std::string name() const;
  const Half &half(Part part) const { return halves[part == Part::left ? 0 : 1]; }
  PageKey key_of(Part part) const;
  /// Pages of it that an earlier run has made.
  int pages_done() const;
};

/// Adds the names of the pages that an earlier run has made.
/// @param pages  the names of all pages: kMostPages for each item, "" for those that it lacks
void add_done(const Item &item, std::size_t index, Split split, std::vector<std::string> &pages);

/// Where a page of an item is among all pages.
std::size_t place_of(std::size_t index, Part part, Split split);

/// Finds free names in a folder: "page.tif", then "page-1.tif" and so on. Any thread.
class Names {
 public:
  /// @param suffix    with the dot
  /// @param reserved  a name that is needed for something else, or ""
  /// @param also      ends of the names of further files that belong to the page
  /// @param also_folder  where these are; "" = in the folder
  Names(std::filesystem::path folder, std::string suffix, const std::string &reserved = "",
        std::vector<std::string> also = {}, const std::filesystem::path &also_folder = "");
  /// A name, free together with those of its further files, that neither the folder nor an earlier
  /// answer has.
  std::string take(const std::string &stem);
  bool is_free(const std::string &stem) const;

 private:
  std::filesystem::path folder_, also_folder_;
  std::string suffix_;
  std::vector<std::string> also_;
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
void name_pages(std::vector<Item> &plan, Names &names, const Journal *journal, Split split);
/// Names the halves of a page.
void name_halves(Item &item, const std::string &stem, Names &names);

}  // namespace cudascan::scan
