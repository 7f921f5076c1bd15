// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "common/api.h"

namespace cudascan::gswo {

/// A compiler's output, shortened: one line for each error, as "file:line: error: text" or
/// "file:line:column: error: text", with the places that used a template. Source excerpts, notes,
/// warnings and counts are left out, and everything after the first 20 lines. If no line is an
/// error, it is the first line.
struct CompilerMessages {
  /// Whether it names a place in the code, or something that the code does not define.
  bool blames_code;
  std::string text;  ///< without a final end of line
};

/// @param said     by g++, clang++, a linker or NVRTC, in English
/// @param folders  removed wherever they occur, in this order: "/tmp/x/"
CUDASCAN_API CompilerMessages shorten(std::string_view said,
                                      const std::vector<std::string> &folders);

}  // namespace cudascan::gswo
