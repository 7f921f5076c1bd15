// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What the header of an image file says, read here and not by the library that decodes the file,
/// so that both can be compared. The formats are those of PNG (W3C), JPEG (ITU-T T.81), TIFF 6.0
/// and BigTIFF, GIF89a, WebP (RFC 9649), JPEG 2000 (ITU-T T.800), PNM (netpbm) and Windows BMP.
#pragma once
#include <string>
#include <vector>

#include "input.h"

namespace cudascan::scan {

enum class Kind { unknown, png, jpeg, tiff, pnm, jpeg2000, bmp, gif, webp, pdf };

/// "PNG", "JPEG" and so on.
const char *name_of(Kind kind);

/// The kind by the first bytes, whatever the name of the input is.
Kind recognise(const Input &input);

struct PageHeader {
  int width = 0, height = 0;  ///< 0 = unknown
  double dpi = 0;             ///< of a page of a PDF that is one image, else 0
  std::uint64_t offset = 0;   ///< of a page of a PNM file
};

struct Header {
  Kind kind = Kind::unknown;
  std::vector<PageHeader> pages;
  bool has_resolution = true;  ///< false for a PNG or JPEG without: libvips says 72 dpi
  bool progressive = false;    ///< a JPEG whose levels come in several scans
  std::string problem;         ///< why there are more pages than were found, or ""
};

/// @throws Error when the input is empty, of no kind that is known, or its header is damaged
Header read_header(Input &input);

/// The pages of a TIFF file: follows the list of its directories.
void read_tiff_header(Input &input, Header &header);

/// The pages of a GIF file: its frames.
void read_gif_header(Input &input, Header &header);

/// The frames of a WebP file.
void read_webp_header(Input &input, Header &header);

}  // namespace cudascan::scan
