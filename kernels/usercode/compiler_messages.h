// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "common/api.h"

namespace cudascan::gswo {

/// What a compiler said, made short: one line for each error, as "file:line: error: text" or
/// "file:line:column: error: text", with the places that a template was used from. Excerpts of the
/// text, notes, warnings and counts are left out, and all but the first 20 lines. Where no line is
/// an error's it is the first of all.
struct CompilerMessages {
  /// Whether it names a place in the code, or something that the code does not define.
  bool blames_code;
  std::string text;  ///< without an end of line at the end
};

/// @param said     by g++, clang++, a linker or NVRTC, in English
/// @param folders  what is taken away wherever it stands, one after the other: "/tmp/x/"
CUDASCAN_API CompilerMessages shorten(std::string_view said,
                                      const std::vector<std::string> &folders);

}  // namespace cudascan::gswo
