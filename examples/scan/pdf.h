// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "new_file.h"
#include "pdf_facts.h"

namespace cudascan::scan {

/// The files of a page.
struct PdfPage {
  std::filesystem::path page;  ///< from encode() with Format::tiff
  std::filesystem::path text;  ///< from read_text(), or "" for a page without text
  std::string label;
};

/// Writes one PDF with these pages, sized by their resolution. The compressed images are copied
/// unchanged, or are made JBIG2, one page at a time. The PDF is PDF/A-2b unless a side of a page is
/// shorter than 3 or longer than 14400 points.
/// @throws Error when a file cannot be read or `to` cannot be written
void write_pdf(const std::vector<PdfPage> &pages, const PdfFacts &facts, NewFile &to);

}  // namespace cudascan::scan
