// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "new_file.h"

namespace cudascan::scan {

/// Writes one PDF with a page for each file, sized by its resolution. The files must come from
/// encode() with Format::tiff; their compressed data is copied unchanged, one page at a time.
/// @param mark  a comment near the beginning of the file
/// @throws Error when a file cannot be read or `to` cannot be written
void write_pdf(const std::vector<std::filesystem::path> &pages, const std::string &mark,
               NewFile &to);

}  // namespace cudascan::scan
