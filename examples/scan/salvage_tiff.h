// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include "header.h"
#include "image.h"

namespace cudascan::scan {

/// Decodes a page of a TIFF file strip by strip or tile by tile, with 8 bits a sample. Those that
/// are damaged become white.
/// @return the number of rows that are complete; 0 if the page cannot be opened, or libtiff finds
///         another size than the header
int salvage_tiff(const Input &input, const Header &header, int page, Image &image);

}  // namespace cudascan::scan
