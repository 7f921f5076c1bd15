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

/// gswo-cc of the build folder or the installation that a library is in, wherever it was copied or
/// moved to. The program must belong to the library's owner or to root: nobody else may have put it
/// there.
/// @param library  path of libcudascan.so
CUDASCAN_API std::optional<ProgramFile> gswo_cc_of(const std::string &library);

/// gswo-cc: the path in the environment variable CUDASCAN_GSWO_CC, else the one of this library,
/// whose version is right for certain; else the one in PATH; else the one in the folder that this
/// library was to be installed in.
/// @throws Error if CUDASCAN_GSWO_CC is not a program
CUDASCAN_API std::optional<ProgramFile> find_gswo_cc();

/// The output of `gswo-cc --version`: its own version and that of Clang's library, which can be
/// replaced separately; "" if there is no output. It is run once per process, which takes 20 ms,
/// and again when its file changes.
std::string version_of_gswo_cc(const ProgramFile &);

}  // namespace cudascan::gswo
