// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Pages of image files: PNG, JPEG, TIFF, PNM and JPEG 2000, read by libvips.
#pragma once
#include <string>

#include "image.h"

namespace cudascan::scan {

/// What the header of a file says.
struct FileFacts {
  int pages = 1;
};

/// Starts libvips; call it once, before any other thread runs.
void start_reading(const char *program);

/// Reads the header.
/// @throws Error when the file does not exist or has none of these formats
FileFacts facts_of(const std::string &path);

/// Decodes a page (the first is 0) and turns it upright by its EXIF orientation. Colour becomes
/// luma (Rec. 601), transparency becomes white; 16 bits stay 16 bits.
/// @throws Error as facts_of() does; also for a damaged or truncated file and for pages of more
///         than 32768 pixels a side
void read_page(const std::string &path, int page, Image &image);

}  // namespace cudascan::scan
