// SPDX-License-Identifier: LGPL-2.1-or-later
// Feeds odd files to what cudascan-scan reads without a library: the headers of all formats but
// PDF, and whole images of PNM and BMP. Each page must be read or refused with an Error.
#include <memory>
#include <string>

#include "common/error.h"
#include "examples/scan/bmp.h"
#include "examples/scan/header.h"
#include "examples/scan/image.h"
#include "examples/scan/pnm.h"

namespace cudascan::scan {

/// qpdf reads PDFs.
void read_pdf_header(Input &, Header &) {}

namespace {

void read_page(Input &input, Kind kind, const PageHeader &page, bool salvage) {
  constexpr int kMost = 1000;
  if (page.width > kMost || page.height > kMost) return;
  Image image;
  Reading reading;
  try {
    if (kind == Kind::pnm)
      read_pnm_page(input, page, salvage, image, reading);
    else if (kind == Kind::bmp)
      read_bmp_page(input, salvage, image, reading);
  } catch (const Error &) {
    return;
  }
  if (reading.damage.empty()) return;
  if (!salvage || reading.rows_kept < 1 || reading.rows_kept >= reading.rows) __builtin_trap();
}

}  // namespace
}  // namespace cudascan::scan

extern "C" int LLVMFuzzerTestOneInput(const char *data, std::size_t size) {
  using namespace cudascan;
  scan::Input input("file", std::make_shared<const std::string>(data, size));
  try {
    const scan::Header header = scan::read_header(input);
    for (const scan::PageHeader &page : header.pages)
      for (const bool salvage : {false, true}) scan::read_page(input, header.kind, page, salvage);
  } catch (const Error &) {
    // Refused, as it should be.
  }
  return 0;
}
