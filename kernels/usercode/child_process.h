// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Runs a program that is not to do harm: one that may hang, crash, talk without end or want all
/// memory.
#pragma once
#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "common/api.h"

namespace cudascan::gswo {

/// What a program and each of those it starts may use.
struct ProcessLimits {
  std::chrono::milliseconds wall{60'000};  ///< of all together; then all are killed
  std::uint64_t cpu_seconds = 30;
  std::uint64_t memory = std::uint64_t{4} << 30;  ///< bytes of address space
  std::uint64_t file = std::uint64_t{256} << 20;  ///< bytes in one file
};

struct ProcessResult {
  enum class End { exited, killed, timed_out, stopped };
  End end;
  int code;              ///< exit status, or the signal that ended it
  std::string messages;  ///< what was written to stdout and stderr, the first 64 KiB
};

/// Runs a program to its end, in a process group of its own, which is killed when the program is
/// done. stdin is /dev/null, messages are in English, `folder` is the current folder and that of
/// temporary files; variables by which compilers add folders and libraries are taken out of the
/// environment. If this process ends before, even by SIGKILL, the group is killed and `folder`
/// removed: by a shell that waits for that. Without /bin/sh they are left to the limits.
/// @param stop  ends it as the limit on its time does
/// @param program  absolute path of the program, then its arguments
/// @throws Error if it cannot be started
CUDASCAN_API ProcessResult run_program(const std::vector<std::string> &program,
                                       const std::string &folder, const ProcessLimits &,
                                       const std::stop_token &stop = {});

}  // namespace cudascan::gswo
