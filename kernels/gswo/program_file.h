// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <optional>
#include <string>

namespace cudascan::gswo {

/// A program that can be run.
struct ProgramFile {
  std::string path;     ///< absolute
  std::string version;  ///< changes when the file does
};

/// @param name  a path, or what is looked for in PATH
std::optional<ProgramFile> find_program(const std::string &name);

}  // namespace cudascan::gswo
