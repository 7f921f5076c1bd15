// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "open_file.h"

namespace cudascan::scan {

/// Which page of which file, as it was when it was read.
struct PageKey {
  std::string path;  ///< without links and dots
  long long size = 0, modified_ns = 0;
  int page = 0;        ///< in the file, from 0 on
  int occurrence = 0;  ///< how often it was named before in one run
  auto operator<=>(const PageKey &) const = default;
};

/// Which page a file in an output folder was made of, so that a later run can leave out what is
/// done: a hidden file in that folder with two lines for each page. claim() comes before the page
/// gets its name and confirm() after it. A run may be killed between them, and somebody else's file
/// may have had the name already: what is only claimed counts if it has the contents that were
/// claimed.
///
/// Others may have written to the journal, too: lines that are spoiled, and names that are not
/// those of files in the folder, are passed over.
class Journal {
 public:
  static constexpr const char *kName = ".cudascan-scan.journal";

  /// @throws Error when something that is no file has its name, or it cannot be read
  explicit Journal(const std::filesystem::path &folder);

  /// The file in the folder that was made of a page and is still there, a regular one; "" if there
  /// is none.
  std::string output_of(const PageKey &key) const;
  /// Notes that the page with these contents will be there under this name, unless something has
  /// it. Any thread.
  /// @throws Error when the disk refuses
  void claim(const PageKey &key, const std::string &output, std::string_view contents);
  /// Notes that it is there. Any thread. Where the disk refuses, the claim says it, too.
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
