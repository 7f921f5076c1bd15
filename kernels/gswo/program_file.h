// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Where programs are that this library runs.
#pragma once
#include <optional>
#include <string>

#include "common/api.h"

namespace cudascan::gswo {

/// A program that can be run.
struct ProgramFile {
  std::string path;     ///< absolute
  std::string version;  ///< changes when the file does
};

/// @param name  a path, or what is looked for in PATH
std::optional<ProgramFile> find_program(const std::string &name);

/// gswo-cc: what the environment variable CUDASCAN_GSWO_CC names, else it is looked for in PATH, then where
/// it was installed with this library.
/// @throws Error if CUDASCAN_GSWO_CC names none
CUDASCAN_API std::optional<ProgramFile> find_gswo_cc();

}  // namespace cudascan::gswo
