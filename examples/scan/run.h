// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <string>
#include <vector>

namespace cudascan::scan {

class Kept;

/// Makes one run, as the command line asks, and prints why it cannot. Throws nothing.
/// @param words     the name of the program and its arguments
/// @param kept      of the runs before
/// @param is_served the words came on standard input; see serve.h
/// @return the exit status
int run(const std::vector<std::string> &words, Kept &kept, bool is_served = false);

}  // namespace cudascan::scan
