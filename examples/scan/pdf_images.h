// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Pages of a PDF that are not only black and white.
#pragma once
#include <filesystem>
#include <qpdf/QPDF.hh>
#include <qpdf/QPDFObjectHandle.hh>
#include <string>

#include "page_file.h"

namespace cudascan::scan {

/// An image of JPEG, in gray, RGB, or the colours of its ICC profile.
/// @param facts  of the image in the file
/// @param image  0, or 1 for the one under the page
QPDFObjectHandle jpeg_image(QPDF &pdf, const std::filesystem::path &path, const PageFile &facts,
                            int image);

/// Makes a page of two images: `text` becomes a mask that is black where there is text, and the
/// second image of the file gets the name /Under.
/// @return what paints both into the unit square; the text is called /Scan
std::string paint_layers(QPDF &pdf, const std::filesystem::path &path, const PageFile &facts,
                         QPDFObjectHandle text, QPDFObjectHandle names);

}  // namespace cudascan::scan
