// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Text of pages, recognised by the program tesseract, which has to be installed.
#pragma once
#include <string>

#include "image.h"

namespace cudascan::scan {

/// @param languages  as tesseract names them, with + between them: "eng+deu"
/// @throws Error when tesseract cannot be run, or lacks one of them
void check_languages(const std::string &languages);

/// The first language as BCP 47 names it, or "" if that is not known.
std::string language_tag(const std::string &languages);

/// @param page        TIFF or PNG
/// @param resolution  of it; 0 = unknown
/// @return a PDF with the text of the page, invisible, where it stands
/// @throws Error when tesseract fails, or works on it for longer than ten minutes
std::string read_text(const std::string &page, const Resolution &resolution,
                      const std::string &languages);

/// What the name of a page gets for the file of its text.
inline constexpr const char *kTextSuffix = ".text";

}  // namespace cudascan::scan
