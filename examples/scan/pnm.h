// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// PNM files (netpbm's P1 to P6), also with several images one after another. libvips 8.14 reads a
/// header with two lines of comments as a page of one column, and only the first image.
#pragma once
#include "header.h"
#include "image.h"
#include "reading.h"

namespace cudascan::scan {

/// Finds the images. A header that is damaged after the first image is a problem of the file.
/// @throws Error when the first header is damaged
void read_pnm_header(Input &input, Header &header);

/// Decodes an image. Levels are scaled to 255 or, if there are more than 256, to 65535.
/// @throws Error when it is truncated or damaged, unless `salvage` keeps the rows that are there
void read_pnm_page(Input &input, const PageHeader &page, bool salvage, Image &image,
                   Reading &reading);

}  // namespace cudascan::scan
