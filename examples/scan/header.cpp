// SPDX-License-Identifier: LGPL-2.1-or-later
#include "header.h"

#include <algorithm>

#include "bmp.h"
#include "common/error.h"
#include "pdf_pages.h"
#include "pnm.h"

namespace cudascan::scan {
namespace {

constexpr std::size_t kFirstBytes = 1024;

[[noreturn]] void damaged(const Input &input, const Header &header) {
  throw Error(input.name() + ": the header of the " + name_of(header.kind) + " file is damaged");
}

/// A number of 1 to 4 bytes with the highest first. @throws Error at the end of the input
std::uint32_t big(Input &input, const Header &header, std::uint64_t at, int bytes) {
  std::uint32_t value = 0;
  for (int i = 0; i < bytes; ++i) {
    const int byte = input.at(at + i);
    if (byte < 0) damaged(input, header);
    value = value << 8 | static_cast<std::uint32_t>(byte);
  }
  return value;
}

/// @throws Error unless both are positive numbers that fit into an int
PageHeader page_of(const Input &input, const Header &header, std::uint64_t width,
                   std::uint64_t height) {
  constexpr std::uint64_t kMost = 0x7fffffff;
  if (width < 1 || height < 1 || width > kMost || height > kMost) damaged(input, header);
  return {.width = static_cast<int>(width), .height = static_cast<int>(height)};
}

void read_png_header(Input &input, Header &header) {
  constexpr int kWidth = 16, kHeight = 20;
  if (input.part(12, 4) != "IHDR") damaged(input, header);
  header.pages.push_back(
      page_of(input, header, big(input, header, kWidth, 4), big(input, header, kHeight, 4)));
  // A resolution is in a chunk before the pixels: two numbers, and 1 for pixels a metre.
  constexpr std::uint64_t kFirstChunk = 8, kAround = 12, kData = 8, kUnit = kData + 8;
  constexpr int kMostChunks = 1000;
  header.has_resolution = false;
  std::uint64_t at = kFirstChunk;
  for (int i = 0; i < kMostChunks && at + kAround <= input.size(); ++i) {
    const std::string type = input.part(at + 4, 4);
    if (type == "IDAT") return;
    if (type == "pHYs") header.has_resolution = input.at(at + kUnit) == 1;
    at += kAround + big(input, header, at, 4);
  }
}

/// Walks over the segments to the frame header, SOF. The resolution is in that of JFIF, unless its
/// unit is 0, or in that of EXIF.
void read_jpeg_header(Input &input, Header &header) {
  constexpr std::uint32_t kJfif = 0xe0, kExif = 0xe1;
  header.has_resolution = false;
  for (std::uint64_t at = 2;;) {
    // Fill bytes are allowed, and libjpeg moves past others.
    while (big(input, header, at, 1) != 0xff) ++at;
    const std::uint32_t marker = big(input, header, at + 1, 1);
    if (marker == 0xff || marker == 0) {
      ++at;
      continue;
    }
    at += 2;
    if (marker == 0x01 || (marker >= 0xd0 && marker <= 0xd8)) continue;  // without a length
    const bool is_frame =
        marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
    if (is_frame) {
      header.progressive = (marker & 3) == 2;
      header.pages.push_back(
          page_of(input, header, big(input, header, at + 5, 2), big(input, header, at + 3, 2)));
      return;
    }
    const std::uint32_t length = big(input, header, at, 2);
    if (length < 2 || marker == 0xd9 || marker == 0xda) damaged(input, header);
    if ((marker == kJfif && input.part(at + 2, 4) == "JFIF" && input.at(at + 9) > 0) ||
        (marker == kExif && input.part(at + 2, 4) == "Exif"))
      header.has_resolution = true;
    at += length;
  }
}

/// The SIZ segment follows the start of the code stream.
void read_codestream(Input &input, Header &header, std::uint64_t at) {
  if (big(input, header, at, 4) != 0xff4fff51) damaged(input, header);
  const auto number = [&](int from) -> std::uint64_t { return big(input, header, at + from, 4); };
  constexpr int kX = 8, kY = 12, kOffsetX = 16, kOffsetY = 20;
  if (number(kX) < number(kOffsetX) || number(kY) < number(kOffsetY)) damaged(input, header);
  header.pages.push_back(
      page_of(input, header, number(kX) - number(kOffsetX), number(kY) - number(kOffsetY)));
}

/// Walks over the boxes to the code stream, jp2c.
void read_jpeg2000_header(Input &input, Header &header) {
  if (input.at(0) == 0xff) return read_codestream(input, header, 0);
  for (std::uint64_t at = 0;;) {
    std::uint64_t length = big(input, header, at, 4);
    const std::string type = input.part(at + 4, 4);
    std::uint64_t inner = at + 8;
    if (length == 1) {
      length = std::uint64_t{big(input, header, at + 8, 4)} << 32 | big(input, header, at + 12, 4);
      inner += 8;
    }
    if (type == "jp2c") return read_codestream(input, header, inner);
    if (length < 8 || length > input.size() - at) damaged(input, header);
    at += length;
  }
}

}  // namespace

const char *name_of(Kind kind) {
  switch (kind) {
    case Kind::png:
      return "PNG";
    case Kind::jpeg:
      return "JPEG";
    case Kind::tiff:
      return "TIFF";
    case Kind::pnm:
      return "PNM";
    case Kind::jpeg2000:
      return "JPEG 2000";
    case Kind::bmp:
      return "BMP";
    case Kind::gif:
      return "GIF";
    case Kind::webp:
      return "WebP";
    case Kind::pdf:
      return "PDF";
    default:
      return "unknown";
  }
}

Kind recognise(const Input &input) {
  using namespace std::string_view_literals;
  const std::string bytes = input.part(0, kFirstBytes);
  const std::string_view first(bytes);
  const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  if (first.starts_with("\x89PNG\r\n\x1a\n"sv)) return Kind::png;
  if (first.starts_with("\xff\xd8\xff"sv)) return Kind::jpeg;
  for (const auto mark : {"II*\0"sv, "MM\0*"sv, "II+\0"sv, "MM\0+"sv})
    if (first.starts_with(mark)) return Kind::tiff;
  if (first.starts_with("GIF87a") || first.starts_with("GIF89a")) return Kind::gif;
  if (first.starts_with("RIFF") &&
      first.substr(std::min<std::size_t>(8, first.size()), 4) == "WEBP")
    return Kind::webp;
  if (first.starts_with("\0\0\0\x0cjP  \r\n\x87\n"sv) || first.starts_with("\xff\x4f\xff\x51"sv))
    return Kind::jpeg2000;
  if (first.size() > 2 && first[0] == 'P' && first[1] >= '1' && first[1] <= '6' &&
      (is_space(first[2]) || first[2] == '#'))
    return Kind::pnm;
  if (is_bmp(first)) return Kind::bmp;
  if (first.find("%PDF-") != std::string_view::npos) return Kind::pdf;
  return Kind::unknown;
}

Header read_header(Input &input) {
  if (input.size() == 0) throw Error(input.name() + ": the file is empty");
  Header header;
  header.kind = recognise(input);
  switch (header.kind) {
    case Kind::png:
      read_png_header(input, header);
      break;
    case Kind::jpeg:
      read_jpeg_header(input, header);
      break;
    case Kind::tiff:
      read_tiff_header(input, header);
      break;
    case Kind::pnm:
      read_pnm_header(input, header);
      break;
    case Kind::jpeg2000:
      read_jpeg2000_header(input, header);
      break;
    case Kind::bmp:
      read_bmp_header(input, header);
      break;
    case Kind::gif:
      read_gif_header(input, header);
      break;
    case Kind::webp:
      read_webp_header(input, header);
      break;
    case Kind::pdf:
      read_pdf_header(input, header);
      break;
    default:
      throw Error(input.name() +
                  ": not a PNG, JPEG, TIFF, PNM, JPEG 2000, BMP, GIF, WebP or PDF file");
  }
  if (header.pages.empty())
    throw Error(input.name() + ": " +
                (header.problem.empty() ? "the file has no page" : header.problem));
  return header;
}

}  // namespace cudascan::scan
