// SPDX-License-Identifier: LGPL-2.1-or-later
// Feeds odd files to what cudascan-scan reads without a library: the headers of all formats but
// PDF, and whole images of PNM, BMP and PNG. Each page must be read or refused.
#include <libdeflate.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "common/error.h"
#include "examples/scan/bmp.h"
#include "examples/scan/header.h"
#include "examples/scan/image.h"
#include "examples/scan/plain_png.h"
#include "examples/scan/pnm.h"
#include "examples/scan/unfilter.h"

namespace cudascan::scan {

/// qpdf reads PDFs.
void read_pdf_header(Input &, Header &) {}

namespace {

/// Makes the check sums of the chunks right, as the fuzzer cannot.
std::string with_check_sums(std::string file) {
  const auto byte = [&](std::size_t at) -> std::uint32_t {
    return static_cast<unsigned char>(file[at]);
  };
  for (std::size_t at = 8; at + 12 <= file.size();) {
    const std::size_t size = byte(at) << 24 | byte(at + 1) << 16 | byte(at + 2) << 8 | byte(at + 3);
    if (size > file.size() - at - 12) break;
    const std::uint32_t sum = libdeflate_crc32(0, file.data() + at + 4, size + 4);
    for (std::size_t i = 0; i < 4; ++i)
      file[at + 8 + size + i] = static_cast<char>(sum >> (24 - 8 * i));
    at += size + 12;
  }
  return file;
}

void read_png(const std::string &file, const PageHeader &page) {
  Image image;
  image.shape(page.width, page.height, 8);
  decode_plain_png(with_check_sums(file), image);
}

/// Takes the bytes for filtered rows.
void undo_filters(const std::uint8_t *data, std::size_t size) {
  if (size < 3) return;
  const int row_bytes = 1 + data[0], pixel_bytes = 1 + data[1] % 8;
  const int rows = std::min(static_cast<int>((size - 2) / (row_bytes + 1)), Unfilter::kRows);
  if (rows == 0) return;
  const std::vector<std::uint8_t> filtered(data + 2, data + 2 + rows * (row_bytes + 1));
  std::vector<std::uint8_t> to(static_cast<std::size_t>(rows) * row_bytes);
  Unfilter unfilter(row_bytes, pixel_bytes);
  for (int i = 0; i < 2; ++i) unfilter.next(filtered.data(), rows, to.data(), row_bytes);
}

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
    else if (kind == Kind::png)
      read_png(std::string(input.memory()), page);
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
  scan::undo_filters(reinterpret_cast<const std::uint8_t *>(data), size);
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
