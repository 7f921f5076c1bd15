// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What a PDF says of itself, and what PDF/A-2b (ISO 19005-2) asks for in addition to the pages.
#pragma once
#include <qpdf/QPDF.hh>
#include <string>
#include <vector>

#include "pdf_facts.h"

namespace cudascan::scan {

/// Adds the Info dictionary, an XMP packet that agrees with it, the labels of pages, an sRGB
/// profile as output intent, language and preferences of the viewer.
/// @param labels   one for each page
/// @param archive  whether to say that it is PDF/A-2b
void add_metadata(QPDF &pdf, const PdfFacts &facts, const std::vector<std::string> &labels,
                  bool archive);

/// A stream with this data, compressed by Flate.
QPDFObjectHandle flate_stream(QPDF &pdf, const std::string &data);

}  // namespace cudascan::scan
