// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <string>
#include <vector>

namespace cudascan::scan {

struct Outcome {
  std::string output, errors;
  std::string problem;  ///< why it did not end well, or ""
};

/// Runs a program that is found in PATH, and waits. Its input and output are in memory. It is not
/// ended by Ctrl-C: that is for this program, which finishes its pages.
/// @param words        the program and its arguments
/// @param environment  "NAME=value", in addition to that of this program
/// @param seconds      after which it is ended
/// @throws Error when it cannot be started
Outcome run_program(const std::vector<std::string> &words, const std::string &input,
                    const std::vector<std::string> &environment, double seconds);

}  // namespace cudascan::scan
