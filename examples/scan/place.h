// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "open_file.h"

namespace cudascan::scan {

/// Where pages go: a folder; or, for a PDF, a work folder next to it, NAME.pdf.pages, which holds
/// finished pages until the PDF is there, so that thousands of pages need no memory and a run can
/// go on later. A work folder belongs to one run at a time.
class Place {
 public:
  /// Decides on names, makes nothing.
  /// @throws Error when the output is something else already
  Place(const std::string &output, bool pdf, bool resume);

  /// Makes the folder, for a PDF under the next free name if another run was faster, and removes
  /// what killed runs have left of temporary files.
  /// @throws Error when it cannot be made, or another run makes this PDF
  void make();

  const std::filesystem::path &folder() const { return folder_; }
  bool is_pdf() const { return !pdf_.empty(); }
  /// The PDF that is to be, or what it is called after all once it is there.
  const std::filesystem::path &pdf() const { return pdf_; }
  /// With --resume: the PDF is there already and no page is in the work folder.
  bool finished() const { return finished_; }
  /// With --resume: the PDF is complete, but was not published before its run was killed.
  bool bound() const;
  /// A sentence about an unfinished run that was found and left alone, or "".
  const std::string &note() const { return note_; }

  /// Writes the PDF of these pages and publishes it.
  /// @throws Error; the work folder then stays
  void bind(const std::vector<std::string> &pages);
  /// Removes the pages of the PDF that is bound, gives it its name outside of the work folder, and
  /// removes that. A run that was killed here goes on here: as long as the PDF is in the work
  /// folder, nothing else there is needed.
  /// @throws Error when the disk refuses
  void publish(const std::vector<std::string> &pages);
  /// Removes the work folder if there are no pages in it.
  void drop_empty() const;

 private:
  void use_pdf(const std::filesystem::path &pdf);
  /// The PDF when it is complete, as long as it is in the work folder.
  std::filesystem::path bound_pdf() const;

  std::filesystem::path folder_, pdf_;
  bool resume_, finished_ = false;
  std::string note_;
  OpenFile work_;  ///< the work folder, locked
};

}  // namespace cudascan::scan
