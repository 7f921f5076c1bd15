// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Translates sequential code with GSWO pragmas to a filter. It runs gswo-cc, a separate program,
/// because a compiler should not run inside a process that plays video.
#pragma once
#include <string>
#include <vector>

#include "kernels/usercode/code.h"

namespace cudascan::gswo {

/// Whether a text has GSWO pragmas.
bool has_pragmas(const std::string &text);

struct Translation {
  std::string text;   ///< the text for make_chain_unit(), with its manifest
  std::string notes;  ///< messages of gswo-cc, as "file:line:column: note: text"
};

/// Translates with the gswo-cc that find_gswo_cc() finds.
/// @param options  of gswo-cc, such as --set, win=5
/// @throws BadSetting with gswo-cc's errors, as "file:line:column: error: text"
/// @throws Error with the remedy if there is no gswo-cc or if it failed
CUDASCAN_API Translation translate(const SourceText &, const std::vector<std::string> &options,
                                   const CodeOptions &);

}  // namespace cudascan::gswo
