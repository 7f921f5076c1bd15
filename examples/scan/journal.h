// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <filesystem>
#include <map>
#include <mutex>
#include <string>

namespace cudascan::scan {

/// Which page of which file, as it was when it was read.
struct PageKey {
  std::string path;  ///< without links and dots
  long long size = 0, modified_ns = 0;
  int page = 0;        ///< in the file, from 0 on
  int occurrence = 0;  ///< how often it was named before in one run
  auto operator<=>(const PageKey &) const = default;
};

/// Which page a file in an output folder was made of, so that a later run can leave out what is done:
/// a hidden file in that folder, a line for each page, written before the page gets its name. Lines that
/// a killed run or another program has spoiled are passed over.
class Journal {
 public:
  static constexpr const char *kName = ".cudascan-scan.journal";

  explicit Journal(const std::filesystem::path &folder);
  ~Journal();
  Journal(const Journal &) = delete;
  Journal &operator=(const Journal &) = delete;

  /// The file in the folder that was made of a page and is still there; "" if there is none.
  std::string output_of(const PageKey &key) const;
  /// Notes that the page will be there under this name. Any thread.
  /// @throws Error when the disk refuses
  void claim(const PageKey &key, const std::string &output);

 private:
  std::filesystem::path folder_;
  std::map<PageKey, std::string> outputs_;
  std::mutex mutex_;
  int file_ = -1;
};

}  // namespace cudascan::scan
