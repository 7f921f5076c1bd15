// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <filesystem>
#include <vector>

#include "new_file.h"

namespace cudascan::scan {

/// Writes one PDF with a page for each file, as large as it is at its resolution. The files are those
/// that encode() makes of Format::tiff; their compressed pages are copied as they are, one at a time.
/// @throws Error when a file cannot be read or `to` cannot be written
void write_pdf(const std::vector<std::filesystem::path> &pages, NewFile &to);

}  // namespace cudascan::scan
