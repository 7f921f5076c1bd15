// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <string>
#include <vector>

namespace cudascan::scan {

/// What happened while a page was read.
struct Reading {
  /// Of a damaged page that was salvaged: its rows in the file, and those that were kept.
  int rows = 0, rows_kept = 0;
  std::string damage = {};                 ///< why it had to be salvaged, or ""
  std::vector<std::string> warnings = {};  ///< of the library that decoded it
  double decode_ms = 0;                    ///< time that decoding took
  std::string not_on_gpu = {};             ///< why a GPU that was asked for cannot decode it
};

}  // namespace cudascan::scan
