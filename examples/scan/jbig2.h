// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <string>

namespace cudascan::scan {

/// The bits of a page as JBIG2 (ITU-T T.88) in the form for a PDF: one generic region, which is
/// lossless: template 0, typical prediction, arithmetic coding. Symbols, which may replace letters
/// by similar ones, are never used.
/// @param bits  eight pixels a byte, the leftmost in the highest bit; each row begins at a new
///              byte; 1 = black
std::string encode_jbig2(const std::string &bits, int width, int height);

}  // namespace cudascan::scan
