// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <string>

#include "options.h"

namespace cudascan::scan {

/// Decides what the output is, by its name, and the format of the pages in it.
/// @param format  as given, or ""
/// @throws UsageError when the name and the format contradict each other, or the name is that of a
///         format that is not written
void take_output(const std::string &format, Options &options);

/// @param is_served  the run has no standard input and output
/// @throws UsageError for standard input or output, or a PNG file, in a use that they do not have
void check_streams(Options &options, bool is_served);

/// A sentence for several pages and an output that holds one.
std::string one_page_only(const Options &options);

}  // namespace cudascan::scan
