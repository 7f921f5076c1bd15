// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <string>

#include "image.h"
#include "steps.h"

namespace cudascan::scan {

/// The image in which the text of a page is recognised. Small print loses strokes in black and
/// white: below 250 dots per inch it is the gray page with the same angle and crop.
/// @param source  the page after Cleaner::clean()
/// @param result  the finished page in black and white
/// @return a TIFF file of `result`, or a PGM file of its size
std::string text_image(const Image &source, const Image &result, const Steps &steps,
                       const Findings &found);

}  // namespace cudascan::scan
