// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include "header.h"

namespace cudascan::scan {

/// The pages of a PDF, counted by qpdf. A page that is filled by one image has its resolution.
/// @throws Error when it is damaged or needs a password
void read_pdf_header(Input &input, Header &header);

}  // namespace cudascan::scan
