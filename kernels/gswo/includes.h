// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include "kernels/gswo/code.h"

namespace cudascan::gswo {

/// Refuses texts that could make a compiler open a file which is not of the unit, wherever it stands, in
/// skipped groups as well: names of headers that are absolute or have ".." in them or are made by a macro,
/// in #include, #include_next, #import, #embed, import, __has_include and __has_embed; pragmas and
/// assembler directives that open files. Other headers that are not of the unit are left to the
/// compilers, which have nowhere to look for them.
/// @throws BadSetting with "file:line: error: text", by #line and the names of the unit
CUDASCAN_API void check_includes(const Unit &);

}  // namespace cudascan::gswo
