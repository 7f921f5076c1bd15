// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <ctime>
#include <string>

#include "options.h"

namespace cudascan::scan {

/// What the PDF of a run says, but for its time.
/// @throws Error when --ocr was given, and tesseract is not there or lacks a language
PdfFacts facts_of(const Options &options, const std::string &version, int jobs);

/// The time of the PDF: that of SOURCE_DATE_EPOCH, else of the newest input, so that the same files
/// make the same PDF, else now.
/// @param newest_ns  when the newest input was written, 0 = unknown
/// @throws Error when SOURCE_DATE_EPOCH is not a number of seconds
std::time_t time_of(long long newest_ns);

}  // namespace cudascan::scan
