// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Finds the programs that this library runs.
#pragma once
#include <optional>
#include <string>

#include "common/api.h"

namespace cudascan::gswo {

/// An executable program.
struct ProgramFile {
  std::string path;     ///< absolute
  std::string version;  ///< changes when the file does
};

/// @param name  a path, or a name to look up in PATH
std::optional<ProgramFile> find_program(const std::string &name);

/// gswo-cc: the path in the environment variable CUDASCAN_GSWO_CC, else the one in PATH, else the
/// one installed with this library.
/// @throws Error if CUDASCAN_GSWO_CC is not a program
CUDASCAN_API std::optional<ProgramFile> find_gswo_cc();

/// The output of `gswo-cc --version`: its own version and that of Clang's library, which can be
/// replaced separately; "" if there is no output. It is run once per process, which takes 20 ms,
/// and again when its file changes.
std::string version_of_gswo_cc(const ProgramFile &);

}  // namespace cudascan::gswo
