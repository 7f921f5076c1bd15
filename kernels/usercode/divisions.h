// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Divisions in users' text: compiled directly, x / 0 could end the program.
#pragma once
#include <string>

#include "common/api.h"

namespace cudascan::gswo {

/// The text with gswo/division.h applied to its divisions, also in macros. Line numbers do not
/// change. These stay unchanged: divisions by a literal number other than 0, folds (`(x / ...)`),
/// the names of operators, single signs as arguments of macros if some macro makes such names, and
/// all directives except #define.
CUDASCAN_API std::string with_defined_divisions(const std::string &text);

/// Compiler messages about that text, with the columns of the user's text.
/// @param name  of the text in the messages
CUDASCAN_API std::string in_columns_of(const std::string &name, const std::string &text,
                                       const std::string &messages);

}  // namespace cudascan::gswo
