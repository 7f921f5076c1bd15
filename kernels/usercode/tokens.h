// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Splits C++ text into tokens, as far as needed to recognise comments and strings.
#pragma once
#include <string_view>
#include <vector>

namespace cudascan::gswo {

/// Whether a character can be part of a name.
bool is_word(char c);

/// Words, numbers, and all other characters one by one, outside comments; a string is one token,
/// its quote. Tokens are views of the text.
std::vector<std::string_view> tokens_of(std::string_view text);

}  // namespace cudascan::gswo
