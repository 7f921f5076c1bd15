// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "open_file.h"
#include "pdf.h"

namespace cudascan::scan {

enum class OutputKind {
  folder,
  pdf,
  tiff,
  png,     ///< of one page
  stream,  ///< standard output, one page
};

/// Whether it is the name of a blank page in the folder for these.
bool is_put_aside(const std::string &page);

/// Where pages go: into a folder, to standard output or, for a file of all pages, into a work
/// folder next to it, NAME.pdf.pages. The work folder holds finished pages until the file is
/// complete, so thousands of pages need little memory and an interrupted run can continue. A work
/// folder belongs to one run at a time.
class Place {
 public:
  /// Decides on names; creates nothing.
  /// @param mark      for the file of all pages
  /// @param settings  in the mark
  /// @param also      whether pages have further files
  /// @throws Error when the output exists and is something else
  Place(const std::string &output, OutputKind kind, bool resume, std::string mark = "",
        const std::string &settings = "", bool also = false);

  /// Makes the folder and removes temporary files of killed runs. For a file, takes the next free
  /// name if another run was faster.
  /// @throws Error when it cannot be made, or another run is making this file
  void make();

  const std::filesystem::path &folder() const { return folder_; }
  /// Where further files of pages go: the folder or, with a file of all pages, NAME.pdf.also.
  std::filesystem::path also_folder() const;
  OutputKind kind() const { return kind_; }
  bool is_file() const { return !file_.empty(); }
  /// The planned name of the file; once it exists, its actual name.
  const std::filesystem::path &file() const { return file_; }
  /// With --resume: the file already exists, was not made with other settings, and no page is in
  /// the work folder.
  bool finished() const { return finished_; }
  /// With --resume: the file is complete, but its run was killed before it published it.
  bool bound() const;
  /// A sentence about an unfinished run, or a file of other settings, that was found and left
  /// alone, or "".
  const std::string &note() const { return note_; }

  /// Writes the file of these pages and publishes it.
  /// @param others  files in the work folder that are not needed
  /// @param facts   of a PDF
  /// @throws Error; the work folder then stays
  void bind(const std::vector<std::string> &pages, const std::vector<std::string> &others,
            PdfFacts facts);
  /// Removes the pages of the finished file, moves the file out of the work folder, and removes the
  /// work folder. A run that was killed here continues here: while the file is in the work folder,
  /// nothing else there is needed.
  /// @throws Error when the disk refuses
  void publish(const std::vector<std::string> &pages);
  /// Makes the folder for blank pages.
  /// @throws Error when it is something else, or cannot be made
  static void make_blank_folder(const std::filesystem::path &folder);
  /// Removes the work folder if it has no pages.
  void drop_empty() const;

 private:
  /// With --resume: the file to go on with.
  void find_file(const std::filesystem::path &wanted, const std::string &settings);
  void use_file(const std::filesystem::path &file);
  /// Their files and labels.
  std::vector<PdfPage> pdf_pages(const std::vector<std::string> &pages,
                                 const PdfFacts &facts) const;
  /// Removes the texts of pages from the work folder.
  void remove_texts() const;
  std::filesystem::path free_file(const std::filesystem::path &wanted) const;
  void make_also_folder() const;
  /// The complete file while it is in the work folder.
  std::filesystem::path bound_file() const;

  OutputKind kind_;
  std::filesystem::path folder_, file_;
  bool resume_, also_, finished_ = false;
  std::string mark_, note_;
  OpenFile work_;  ///< the work folder, locked
};

}  // namespace cudascan::scan
