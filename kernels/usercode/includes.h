// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include "kernels/usercode/code.h"

namespace cudascan::gswo {

/// Refuses texts that could make a compiler open a file outside the unit, also in skipped groups:
/// header names that are absolute, contain ".." or come from a macro, in #include, #include_next,
/// #import, #embed, import, __has_include and __has_embed; and pragmas and assembler directives
/// that open files. Other unknown headers are left to the compilers, which have no folder to find
/// them in. NVRTC does not report which files it has read, so this checks the text; it does not see
/// names and directives that macros assemble.
/// @throws BadSetting with "file:line: error: text", by #line and the names of the unit
CUDASCAN_API void check_includes(const Unit &);

/// Refuses code that was compiled with files from outside the unit.
/// @param rule    the compiler's list of files, as a make rule
/// @param folder  where the files of the unit are
/// @throws BadSetting
CUDASCAN_API void check_included(const Unit &, const std::string &rule, const std::string &folder);

}  // namespace cudascan::gswo
