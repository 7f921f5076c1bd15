// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Sequential code with GSWO pragmas becomes a filter: by gswo-cc, a program of its own, for a
/// compiler is no guest for a process that plays video.
#pragma once
#include <string>
#include <vector>

#include "kernels/usercode/code.h"

namespace cudascan::gswo {

/// Whether a text has GSWO pragmas.
bool has_pragmas(const std::string &text);

struct Translation {
  std::string text;   ///< what make_chain_unit() takes, with its manifest
  std::string notes;  ///< what gswo-cc had to say about it, as "file:line:column: note: text"
};

/// Translates with the gswo-cc that find_gswo_cc() finds.
/// @param options  of gswo-cc, such as --set, win=5
/// @throws BadSetting with what gswo-cc refuses, as "file:line:column: error: text"
/// @throws Error with the remedy if there is no gswo-cc, and if it failed
CUDASCAN_API Translation translate(const SourceText &, const std::vector<std::string> &options,
                                   const CodeOptions &);

}  // namespace cudascan::gswo
