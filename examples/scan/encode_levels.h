// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Files of pages in gray or colour, made in memory, with 8 or 16 bit a sample, resolution and ICC
/// profile.
#pragma once
#include <string>

#include "image.h"
#include "levels.h"

namespace cudascan::scan {

/// What a TIFF file says of a page; "" is left out.
struct FileTags {
  std::string software;
  std::string document;  ///< the name of the input
  std::string page;      ///< which page of it
};

/// TIFF 6.0 without compression.
/// @throws Error when it would exceed 4 GiB
std::string encode_plain_tiff(const PageLevels &page, const FileTags &tags);
/// TIFF with Deflate in one strip; each sample is stored as the difference to its neighbour.
/// @throws Error when it would exceed 4 GiB
std::string encode_deflate_tiff(const PageLevels &page);
std::string encode_png(const PageLevels &page);
/// From this quality on, colour in a JPEG has the full resolution.
inline constexpr int kFullColour = 90;
/// @param page     8 bits
/// @param quality  1..100
/// @param profile  whether the file has the ICC profile of the page
std::string encode_jpeg(const PageLevels &page, int quality, bool profile = true);
/// JPEG 2000 without loss.
std::string encode_jp2(const PageLevels &page);
/// Whether libvips can write JPEG 2000.
bool can_encode_jp2();

}  // namespace cudascan::scan
