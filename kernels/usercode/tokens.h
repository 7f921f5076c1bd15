// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The tokens of a text of C++, as far as its comments and strings have to be told from it.
#pragma once
#include <string_view>
#include <vector>

namespace cudascan::gswo {

/// Whether a character can stand in a name.
bool is_word(char c);

/// Words, numbers, and all other characters one by one, outside of comments; a string is a token of
/// its quote alone. They are parts of the text.
std::vector<std::string_view> tokens_of(std::string_view text);

}  // namespace cudascan::gswo
