// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// A PDF or TIFF of all pages says near its beginning which program made it, and how.
#pragma once
#include <filesystem>
#include <string>

namespace cudascan::scan {

/// "cudascan-scan", version and settings, in one line.
std::string mark_of(const std::string &version, const std::string &settings);

/// The settings in the mark of a file; "" for a file of another program.
std::string settings_in(const std::filesystem::path &file);

}  // namespace cudascan::scan
