// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "new_file.h"

namespace cudascan::scan {

/// Writes one TIFF file with all pages. They must come from encode() with Format::tiff; their
/// compressed data is copied unchanged, one page at a time.
/// @param mark  what the tag Software says of each page
/// @throws Error when a file cannot be read, `to` cannot be written, or it would exceed 4 GiB
void write_tiff(const std::vector<std::filesystem::path> &pages, const std::string &mark,
                NewFile &to);

}  // namespace cudascan::scan
