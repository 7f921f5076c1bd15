// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Windows bitmaps with 1, 4, 8, 16, 24 and 32 bits a pixel, without compression.
#pragma once
#include <string_view>

#include "header.h"
#include "image.h"
#include "reading.h"

namespace cudascan::scan {

/// Whether these are the first bytes of a bitmap.
bool is_bmp(std::string_view first);

/// @throws Error when the header is damaged, or the file is compressed
void read_bmp_header(Input &input, Header &header);

/// @throws Error when it is truncated, unless `salvage` keeps the rows that are there
void read_bmp_page(Input &input, bool salvage, Image &image, Reading &reading);

}  // namespace cudascan::scan
