// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Divisions in users' text, which compilers would make instructions of that end the program at
/// x / 0.
#pragma once
#include <string>

#include "common/api.h"

namespace cudascan::gswo {

/// The text with gswo/division.h at work in its divisions, in macros, too. Every line stays in its
/// place. As they are stay divisions by a number other than 0 that stands there, folds
/// (`(x / ...)`), the names of operators, signs that macros are given alone where some macro makes
/// such names, and all directives but #define.
CUDASCAN_API std::string with_defined_divisions(const std::string &text);

/// What compilers say of that text, with the columns of the user's.
/// @param name  of the text in the messages
CUDASCAN_API std::string in_columns_of(const std::string &name, const std::string &text,
                                       const std::string &messages);

}  // namespace cudascan::gswo
