// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Pages of image files: PNG, JPEG, TIFF, PNM and JPEG 2000, read by libvips.
#pragma once
#include <string>

#include "image.h"

namespace cudascan::scan {

/// What a file says before it is decoded.
struct FileFacts {
  int pages = 1;
};

/// Prepares libvips; once, before any other thread runs.
void start_reading(const char *program);

/// Reads the header.
/// @throws Error when there is no such file, or none of these formats in it
FileFacts facts_of(const std::string &path);

/// Decodes a page, from 0 on, upright as its EXIF orientation says. Colour becomes luma (Rec. 601),
/// transparency white; 16 bit stay 16 bit.
/// @throws Error as facts_of(); for a file that is damaged or ends too early; for pages of more than
///         32768 pixels a side
void read_page(const std::string &path, int page, Image &image);

}  // namespace cudascan::scan
