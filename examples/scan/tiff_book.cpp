// SPDX-License-Identifier: LGPL-2.1-or-later
// A TIFF 6.0 file, written from its beginning to its end: after the header and the mark, each
// page's strip, then its directory. Where the next directory is follows from the length of the
// next strip.
#include "tiff_book.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "common/error.h"
#include "page_file.h"

namespace cudascan::scan {
namespace {

enum Type { kAscii = 2, kShort = 3, kLong = 4, kRational = 5 };

constexpr std::uint64_t kHeader = 8, kEntries = 17, kEntryBytes = 12;
constexpr std::uint64_t kRationals = 2 * 8;
constexpr std::uint64_t kDirectory = 2 + kEntries * kEntryBytes + 4;

/// Little-endian numbers.
void put(std::string &to, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) to += static_cast<char>(value >> (8 * i) & 255);
}

void put_rational(std::string &to, double value) {
  constexpr double kParts = 1000;
  const bool whole = value == std::round(value);
  put(to, static_cast<std::uint64_t>(std::llround(whole ? value : value * kParts)), 4);
  put(to, whole ? 1 : static_cast<std::uint64_t>(kParts), 4);
}

/// Directories begin at even offsets.
std::uint64_t padded(std::uint64_t bytes) {
  return bytes + bytes % 2;
}

/// The directory of a page, and its rationals after it.
/// @param at    where the directory is
/// @param next  where the next one is, 0 = none
std::string directory(const PageFile &page, std::uint64_t at, std::uint64_t next,
                      std::size_t number, std::size_t count, std::size_t mark_bytes) {
  std::string bytes;
  put(bytes, kEntries, 2);
  const auto entry = [&](int tag, Type type, std::uint64_t value) {
    put(bytes, tag, 2);
    put(bytes, type, 2);
    put(bytes, 1, 4);
    put(bytes, value, 4);
  };
  entry(254, kLong, 2);  // NewSubfileType: one page of several
  entry(256, kLong, page.width);
  entry(257, kLong, page.height);
  entry(258, kShort, 1);  // BitsPerSample
  entry(259, kShort, 4);  // Compression: CCITT group 4
  entry(262, kShort, 0);  // PhotometricInterpretation: 0 is white
  entry(266, kShort, 1);  // FillOrder
  entry(273, kLong, at - padded(page.strip_bytes));
  entry(277, kShort, 1);           // SamplesPerPixel
  entry(278, kLong, page.height);  // RowsPerStrip
  entry(279, kLong, page.strip_bytes);
  entry(282, kRational, at + kDirectory);
  entry(283, kRational, at + kDirectory + 8);
  entry(293, kLong, 0);   // T6Options
  entry(296, kShort, 2);  // ResolutionUnit: inch
  put(bytes, 297, 2);     // PageNumber, and how many there are; 0 = unknown
  put(bytes, kShort, 2);
  put(bytes, 2, 4);
  constexpr std::size_t kMost = 65535;
  put(bytes, std::min(number, kMost), 2);
  put(bytes, count <= kMost ? count : 0, 2);
  put(bytes, 305, 2);  // Software: the mark
  put(bytes, kAscii, 2);
  put(bytes, mark_bytes, 4);
  put(bytes, kHeader, 4);
  put(bytes, next, 4);
  put_rational(bytes, page.x_dpi);
  put_rational(bytes, page.y_dpi);
  return bytes;
}

}  // namespace

void write_tiff(const std::vector<std::filesystem::path> &pages, const std::string &mark,
                NewFile &to) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (pages.empty()) throw Error("a TIFF file needs a page");
  PageFile page(pages[0]);
  const std::size_t mark_bytes = mark.size() + 1;
  std::uint64_t at = kHeader + padded(mark_bytes) + padded(page.strip_bytes);
  std::string header = "II*";
  put(header, 0, 1);
  put(header, at, 4);
  header += mark;
  header.resize(kHeader + padded(mark_bytes));
  to.write(header);
  for (std::size_t i = 0; i < pages.size(); ++i) {
    std::string strip = page.strip();
    strip.resize(padded(strip.size()));
    to.write(strip);
    std::uint64_t next = 0;
    const std::uint64_t end = at + kDirectory + kRationals;
    PageFile following = page;
    if (i + 1 < pages.size()) {
      following = PageFile(pages[i + 1]);
      next = end + padded(following.strip_bytes);
    }
    if (std::max(end, next) > kMost)
      throw Error("a TIFF file cannot hold more than 4 GiB; use a PDF or a folder");
    to.write(directory(page, at, next, i, pages.size(), mark_bytes));
    page = following;
    at = next;
  }
}

}  // namespace cudascan::scan
