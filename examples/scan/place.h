// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "progress.h"

namespace cudascan::scan {

/// Where pages go: a folder; or, for a PDF, a work folder beside it, NAME.pdf.pages, which holds finished
/// pages until the PDF is there, so that thousands of pages need no memory and a run can go on later.
class Place {
 public:
  /// Decides on names, makes nothing.
  /// @throws Error when the output is something else already
  Place(const std::string &output, bool pdf, bool resume);

  /// Makes the folder and removes what killed runs have left of temporary files.
  /// @throws Error when it cannot be made
  void make() const;

  const std::filesystem::path &folder() const { return folder_; }
  bool is_pdf() const { return !pdf_.empty(); }
  /// The PDF that is to be, or what it is called after all once it is there.
  const std::filesystem::path &pdf() const { return pdf_; }
  /// With --resume: the PDF is there already and no work folder is.
  bool finished() const { return finished_; }
  /// A sentence about an unfinished run that was found and left alone, or "".
  const std::string &note() const { return note_; }

  /// Writes the PDF of these pages and removes the work folder.
  /// @throws Error; the work folder then stays
  void bind(const std::vector<std::string> &pages);
  /// Removes the work folder if there are no pages in it.
  void drop_empty() const;

 private:
  std::filesystem::path folder_, pdf_;
  bool finished_ = false;
  std::string note_;
};

}  // namespace cudascan::scan
