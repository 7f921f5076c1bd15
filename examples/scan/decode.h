// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Pages that libvips decodes: PNG, JPEG, TIFF, JPEG 2000, GIF, WebP and, through poppler, PDF.
#pragma once
#include "header.h"
#include "image.h"
#include "reading.h"

namespace cudascan::scan {

struct HowToRead {
  double dpi = 300;  ///< of pages of a PDF that are not one image
  bool salvage = false;
  /// Leave pages coded that a GPU may decode: JPEG; JPEG 2000 and TIFF.
  bool jpeg_for_gpu = false, others_for_gpu = false;
  bool find_content = true;  ///< false: the cleaner does, where the pixels are

  bool for_gpu() const { return jpeg_for_gpu || others_for_gpu; }
};

/// Starts libvips; call it once, before any other thread runs.
void start_decoding(const char *program);

/// Decodes a page as it lies in the file.
/// @return its orientation, 1 to 8, as in EXIF
/// @throws Error when it is damaged, unless `salvage` keeps what is there; when its size or the
///         number of pages is not what the header says; when it is too large
int decode_page(const Input &input, const Header &header, int page, const HowToRead &how,
                Image &image, Reading &reading);

/// Reads what the header of a file with an upright page in gray or RGB says: size, depth and
/// resolution.
/// @return why the page is not read like that, or ""
std::string read_facts(const Input &input, const Header &header, Image &image);

}  // namespace cudascan::scan
