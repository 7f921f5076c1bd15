// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <string>
#include <vector>

namespace cudascan::scan {

/// Natural order: page2 comes before page10. Names that differ only in case or leading zeros are
/// compared byte by byte.
bool natural_less(const std::string &a, const std::string &b);

/// The names in a file, "-" = standard input. Empty ones are skipped.
/// @param null  they end with NUL, not with a newline
/// @throws Error when it cannot be read
std::vector<std::string> names_in(const std::string &file, bool null);

/// What a run is asked to read.
struct Inputs {
  struct Ignored {
    std::string path, why;
  };
  std::vector<std::string> files;
  std::vector<Ignored> ignored;  ///< in folders: what is no image or PDF, and folders not entered
};

/// The named files, and the files in named folders, in natural order. From folders it takes files
/// that are not hidden and are images or PDFs by their content, or by their extension: such a file
/// is damaged. It enters subfolders only with `recursive`.
/// @param output  of this run; in a folder it is ignored, like those of earlier runs
/// @throws Error for a folder that cannot be read; a missing file shows later, when it is read
Inputs list_inputs(const std::vector<std::string> &named, bool recursive,
                   const std::string &output);

}  // namespace cudascan::scan
