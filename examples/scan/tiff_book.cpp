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

enum Type { kAscii = 2, kShort = 3, kLong = 4, kRational = 5, kUndefined = 7 };

constexpr std::uint64_t kHeader = 8, kEntries = 17, kEntryBytes = 12;
constexpr std::uint64_t kRationals = 2 * 8, kBits = 3 * 2;

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

std::uint64_t entries_of(const PageFile &page) {
  return kEntries + (page.profile.empty() ? 0 : 1);
}

std::uint64_t directory_bytes(const PageFile &page) {
  return 2 + entries_of(page) * kEntryBytes + 4;
}

/// Bytes after a directory that its entries refer to: rationals, bits of three samples, profile.
std::uint64_t bytes_after(const PageFile &page) {
  return kRationals + (page.samples == 3 ? kBits : 0) + padded(page.profile.size());
}

/// The directory of a page, and what its entries refer to after it.
/// @param at    where the directory is
/// @param next  where the next one is, 0 = none
std::string directory(const PageFile &page, std::uint64_t at, std::uint64_t next,
                      std::size_t number, std::size_t count, std::size_t mark_bytes) {
  std::string bytes;
  const bool bilevel = page.packing == Packing::group4, colour = page.samples == 3;
  const std::uint64_t after = at + directory_bytes(page);
  const std::uint64_t profile = after + kRationals + (colour ? kBits : 0);
  put(bytes, entries_of(page), 2);
  const auto entry = [&](int tag, Type type, std::uint64_t value, std::uint64_t values = 1) {
    put(bytes, tag, 2);
    put(bytes, type, 2);
    put(bytes, values, 4);
    put(bytes, value, 4);
  };
  entry(254, kLong, 2);  // NewSubfileType: one page of several
  entry(256, kLong, page.width);
  entry(257, kLong, page.height);
  if (colour)
    entry(258, kShort, after + kRationals, 3);  // BitsPerSample
  else
    entry(258, kShort, page.bits);
  entry(259, kShort, static_cast<std::uint64_t>(page.packing));  // Compression
  // PhotometricInterpretation: 0 is white, 0 is black, RGB
  entry(262, kShort, bilevel ? 0 : colour ? 2 : 1);
  entry(266, kShort, 1);  // FillOrder
  entry(273, kLong, at - padded(page.strip_bytes));
  entry(277, kShort, page.samples);
  entry(278, kLong, page.height);  // RowsPerStrip
  entry(279, kLong, page.strip_bytes);
  entry(282, kRational, after);
  entry(283, kRational, after + 8);
  if (bilevel) entry(293, kLong, 0);  // T6Options
  entry(296, kShort, 2);              // ResolutionUnit: inch
  put(bytes, 297, 2);                 // PageNumber, and how many there are; 0 = unknown
  put(bytes, kShort, 2);
  put(bytes, 2, 4);
  constexpr std::size_t kMost = 65535;
  put(bytes, std::min(number, kMost), 2);
  put(bytes, count <= kMost ? count : 0, 2);
  put(bytes, 305, 2);  // Software: the mark
  put(bytes, kAscii, 2);
  put(bytes, mark_bytes, 4);
  put(bytes, kHeader, 4);
  if (!bilevel) entry(317, kShort, 2);  // Predictor: differences
  if (!page.profile.empty()) entry(34675, kUndefined, profile, page.profile.size());
  put(bytes, next, 4);
  put_rational(bytes, page.x_dpi);
  put_rational(bytes, page.y_dpi);
  for (int i = 0; colour && i < 3; ++i) put(bytes, page.bits, 2);
  bytes += page.profile;
  bytes.resize(bytes.size() + bytes.size() % 2);
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
    const std::uint64_t end = at + directory_bytes(page) + bytes_after(page);
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
