// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <string>
#include <vector>

namespace cudascan::scan {

/// Whether the command line is "--serve".
bool is_server(const std::vector<std::string> &words);

/// Makes one run after another. Each comes on standard input: the number of words of its command
/// line, without the name of the program, and then the words, each ended by NUL. Each is answered
/// on standard output when it has ended, by a line with its exit status. What a run prints comes on
/// standard error, before the answer.
///
/// After a signal, and after a run in which a GPU has failed, the answer is "STATUS end", and the
/// process ends.
/// @param program  its name
/// @return the exit status: kAllDone at the end of the input and after a GPU has failed, kSignal
///         plus the number of a signal that came during a run, kWrongUsage for input that is no
///         run, kNothingDone when standard input or output fails
int serve(const std::string &program);

}  // namespace cudascan::scan
