// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Files of black and white pages, made in memory, so that the code that writes them to disk sees
/// all disk errors.
#pragma once
#include <string>

#include "image.h"

namespace cudascan::scan {

enum class Format { tiff, png };

/// Eight pixels a byte, the leftmost in the highest bit; each row begins at a new byte; 1 = black.
/// @param page  8 bit, 0 and 255
std::string pack(const Image &page);

/// The page in CCITT group 4 alone.
std::string group4_of(const Image &page);
/// A TIFF with such a page in one strip, black is 1. The resolution is written if it is known.
std::string tiff_of(std::string group4, int width, int height, const Resolution &resolution);

/// TIFF with CCITT group 4, see tiff_of(); or PNG of 1 bit.
std::string encode(const Image &page, Format format);

}  // namespace cudascan::scan
