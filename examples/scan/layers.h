// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Pages for a PDF that are not only black and white. In the work folder they are TIFF files, as
/// the others: of JPEG (TIFF Technical Note 2), or of two images: text in CCITT group 4, and what
/// is under it in JPEG with fewer pixels. That is mixed raster content (ITU-T T.44) with a mask
/// that is black.
#pragma once
#include <string>

#include "image.h"
#include "levels.h"
#include "pictures.h"

namespace cudascan::scan {

/// @param page  8 bits
std::string encode_jpeg_layer(const PageLevels &page, int quality);

/// @param text   black and white; what is in `parts` is left out
/// @param page   8 bits; only what is in `parts` is used
std::string encode_layers(const Image &text, const PageLevels &page, const KeptParts &parts,
                          int quality);

/// Makes white what is neither ink nor coloured around coloured ink, so that it is as white as the
/// paper elsewhere.
/// @param text  the page in black and white
void clean_around_ink(const Image &text, const KeptParts &parts, PageLevels &page);

/// A page with text in black on white, and the levels of the page in `parts`.
void put_text(const Image &text, const KeptParts &parts, PageLevels &page);

/// How many times fewer pixels the image under the text has in rows and columns: up to 3, but it
/// keeps 100 dots per inch; up to 2 and 150 if there is coloured ink.
int reduction_of(const KeptParts &parts, double dpi);

}  // namespace cudascan::scan
