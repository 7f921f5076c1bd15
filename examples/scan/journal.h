// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "open_file.h"

namespace cudascan::scan {

/// Which page of which file, in the state in which it was read.
struct PageKey {
  std::string path;  ///< canonical: no links, no "." or ".."
  long long size = 0, modified_ns = 0;
  int page = 0;        ///< in the file, from 0 on
  int part = 0;        ///< of the page: 0 = all of it, else a Part
  int occurrence = 0;  ///< how often this run has named it before
  auto operator<=>(const PageKey &) const = default;
};

/// A further file of a page.
struct AlsoNote {
  std::string output;  ///< name in the folder for these
  std::string digest;  ///< SHA-256
};

/// What is noted of a finished page.
struct PageNote {
  std::string output;         ///< name in the folder, with kBlankFolder for a page put aside
  std::string input_digest;   ///< SHA-256 of the file
  std::string output_digest;  ///< SHA-256 of the page
  std::vector<AlsoNote> also = {};
};

/// Folder in the output folder for blank pages.
inline constexpr const char *kBlankFolder = "blank";

/// Which page each file in an output folder was made from, and with which settings, so that a later
/// run can skip finished pages. A hidden file in that folder has a line for the settings of each
/// run, and two lines for each page: claim() is called before the page gets its name, and confirm()
/// afterwards. A run may be killed between the two, and another file may already have had the name.
/// So a claimed page counts only if the file has the claimed contents. The same holds if several
/// pages have had one name.
///
/// A page with further files is finished if all of them are there. A run may be killed while it
/// gives them their names; then partly_made() says the name of the page.
///
/// A blank page that was left out has one line, by skip().
///
/// Other programs may have written to the journal, too. Damaged lines, and names that are not files
/// in the folder, are skipped.
class Journal {
 public:
  static constexpr const char *kName = ".cudascan-scan.journal";

  /// @param settings  of this run, one line
  /// @param also      the folder of further files; "" = the same
  /// @throws Error when its name is not a regular file, or it cannot be read
  Journal(const std::filesystem::path &folder, std::string settings, std::string version,
          const std::filesystem::path &also = "");

  /// The regular file in the folder that was made from a page with these settings and still exists;
  /// "" if there is none.
  std::string output_of(const PageKey &key) const;
  /// The name of a page that an earlier run with these settings has made in part: some of its files
  /// are there, and the names of the others are free. "" if there is none.
  std::string partly_made(const PageKey &key) const;
  /// Whether an earlier run with these settings has left the page out because it is blank.
  bool was_skipped(const PageKey &key) const;
  /// Those that were made from it with other settings.
  std::vector<std::string> other_outputs_of(const PageKey &key) const;
  /// Notes that the page will get this name, unless the name is taken. Any thread.
  /// @throws Error when the disk refuses
  void claim(const PageKey &key, const PageNote &note);
  /// Notes that the page exists. Any thread. If the disk refuses, the claim is enough.
  void confirm(const PageKey &key, const PageNote &note);
  /// Notes that the page is blank and gets no file. Any thread.
  /// @throws Error when the disk refuses
  void skip(const PageKey &key, const std::string &input_digest);

 private:
  struct Entry {
    PageNote note;
    bool confirmed = false, skipped = false;
  };

  void read_line(const std::string &line);
  bool has(const Entry &entry, const std::filesystem::path &file, const std::string &digest) const;
  std::string existing(const Entry &entry) const;
  void add_line(const PageKey &key, const PageNote &note, const char *state);
  void add(const std::string &line);

  std::filesystem::path path_, also_;
  std::string settings_, version_;
  std::string settings_id_;
  std::map<PageKey, std::map<std::string, Entry>> entries_;  ///< by the settings
  std::map<std::string, int> owners_;                        ///< pages that have had this name
  std::mutex mutex_;
  OpenFile file_;
};

}  // namespace cudascan::scan
