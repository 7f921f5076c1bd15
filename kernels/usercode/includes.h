// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include "kernels/usercode/code.h"

namespace cudascan::gswo {

/// Refuses texts that could make a compiler open a file which is not of the unit, wherever it
/// stands, in skipped groups as well: names of headers that are absolute or have ".." in them or
/// are made by a macro, in #include, #include_next, #import, #embed, import, __has_include and
/// __has_embed; pragmas and assembler directives that open files. Other headers that are not of the
/// unit are left to the compilers, which have nowhere to look for them. NVRTC does not tell what it
/// has read, so this looks at the text; it does not see names and directives that macros put
/// together.
/// @throws BadSetting with "file:line: error: text", by #line and the names of the unit
CUDASCAN_API void check_includes(const Unit &);

/// Refuses code that was made with files from elsewhere, whatever the text looks like.
/// @param rule    what the compiler wrote of its files, as a rule of make
/// @param folder  where the files of the unit are
/// @throws BadSetting
CUDASCAN_API void check_included(const Unit &, const std::string &rule, const std::string &folder);

}  // namespace cudascan::gswo
