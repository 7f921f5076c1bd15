// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Finds the gutter of an open book by the gap between its two pages. Two blocks of text can tell,
/// if
/// - the gap between them is at least 6 % of the width of the sheet, its middle within 8 % of the
///   sheet's, and it is at least 0.6 times as wide as both outer margins together: that is where
///   sheets with two columns differ. A heading may reach into it;
/// - gaps within the blocks are at most half as wide, so that it is no table;
/// - each block is half as wide as its page, and a fifth of its rows have much ink;
/// - and the right third of it has at least half as much ink as the left one: a list has less.
/// The line goes through the middle of the gap in the upper and in the lower half or, if there is a
/// dark surround, as near to the middle of the sheet as the gap allows.
#pragma once
#include "book_copy.h"

namespace cudascan::scan {

/// @return whether there is one; `line` is set to its middle
bool find_gap(const BookCopy &copy, UprightLine &line);

}  // namespace cudascan::scan
