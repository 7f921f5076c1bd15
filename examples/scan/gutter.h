// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Finds the gutter of an open book: by its fold (fold.h), else by the gap between its pages
/// (gap.h).
///
/// What lies in a dark surround counts as sheet; it must be 1.05 to 2.6 times as wide as high. At
/// least 0.43 of it must be paper: as light as the paper around, which changes little within 15 mm.
/// Photographs are not.
#pragma once
#include "book_copy.h"
#include "fold.h"
#include "image.h"
#include "split.h"

namespace cudascan::scan {

/// It keeps its memory for the next page.
class GutterFinder {
 public:
  /// Without a gutter, the line is in the middle of the sheet.
  Gutter find(const Image &page);

 private:
  BookCopy copy_;
  FoldFinder fold_;
};

}  // namespace cudascan::scan
