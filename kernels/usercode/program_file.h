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

/// gswo-cc: what the environment variable CUDASCAN_GSWO_CC names, else it is looked for in PATH,
/// then where it was installed with this library.
/// @throws Error if CUDASCAN_GSWO_CC names none
CUDASCAN_API std::optional<ProgramFile> find_gswo_cc();

/// What `gswo-cc --version` says: its own version and that of Clang's library, which can be
/// replaced without it; "" if it says nothing. It is asked once in the life of the process, which
/// takes 20 ms, and again when its file changes.
std::string version_of_gswo_cc(const ProgramFile &);

}  // namespace cudascan::gswo
