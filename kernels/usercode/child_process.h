// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Runs a program safely that may hang, crash, print without end or use all memory.
#pragma once
#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "common/api.h"

namespace cudascan::gswo {

/// Limits for a program and each program that it starts.
struct ProcessLimits {
  std::chrono::milliseconds wall{60'000};  ///< for all together; then all are killed
  std::uint64_t cpu_seconds = 30;
  std::uint64_t memory = std::uint64_t{4} << 30;  ///< bytes of address space
  std::uint64_t file = std::uint64_t{256} << 20;  ///< bytes in one file
};

struct ProcessResult {
  enum class End { exited, killed, timed_out, stopped };
  End end;
  int code;              ///< exit status, or the signal that ended it
  std::string messages;  ///< the first 64 KiB of stdout and stderr
};

/// Runs a program to its end in its own process group, which is killed when the program is done.
/// stdin is /dev/null, messages are in English, `folder` is the current folder and the folder for
/// temporary files. Environment variables that make compilers use additional folders and libraries
/// are removed. If this process ends earlier, even by SIGKILL, a waiting shell kills the group and
/// removes `folder`. Without /bin/sh, only the limits apply.
/// @param stop  ends it like the time limit
/// @param program  absolute path of the program, then its arguments
/// @throws Error if it cannot be started
CUDASCAN_API ProcessResult run_program(const std::vector<std::string> &program,
                                       const std::string &folder, const ProcessLimits &,
                                       const std::stop_token &stop = {});

}  // namespace cudascan::gswo
