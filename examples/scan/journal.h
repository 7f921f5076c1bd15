// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "open_file.h"

namespace cudascan::scan {

/// Which page of which file, in the state in which it was read.
struct PageKey {
  std::string path;  ///< canonical: no links, no "." or ".."
  long long size = 0, modified_ns = 0;
  int page = 0;        ///< in the file, from 0 on
  int occurrence = 0;  ///< how often this run has named it before
  auto operator<=>(const PageKey &) const = default;
};

/// Which page each file in an output folder was made from, so that a later run can skip finished
/// pages. A hidden file in that folder has two lines for each page: claim() is called before the
/// page gets its name, and confirm() afterwards. A run may be killed between the two, and another
/// file may already have had the name. So a claimed page counts only if the file has the claimed
/// contents.
///
/// Other programs may have written to the journal, too. Damaged lines, and names that are not files
/// in the folder, are skipped.
class Journal {
 public:
  static constexpr const char *kName = ".cudascan-scan.journal";

  /// @throws Error when its name is not a regular file, or it cannot be read
  explicit Journal(const std::filesystem::path &folder);

  /// The regular file in the folder that was made from a page and still exists; "" if there is
  /// none.
  std::string output_of(const PageKey &key) const;
  /// Notes that the page with these contents will get this name, unless the name is taken. Any
  /// thread.
  /// @throws Error when the disk refuses
  void claim(const PageKey &key, const std::string &output, std::string_view contents);
  /// Notes that the page exists. Any thread. If the disk refuses, the claim is enough.
  void confirm(const PageKey &key, const std::string &output);

 private:
  struct Entry {
    std::string output;
    std::string digest;  ///< of the contents; "" when they are confirmed
  };

  void read_line(const std::string &line);
  void add_line(const PageKey &key, const Entry &entry);

  std::filesystem::path path_;
  std::map<PageKey, Entry> entries_;
  std::mutex mutex_;
  OpenFile file_;
};

}  // namespace cudascan::scan
