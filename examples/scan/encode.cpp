// SPDX-License-Identifier: LGPL-2.1-or-later
#include "encode.h"

#include <tiffio.h>

#include <cstring>
#include <utility>

#include "png_memory.h"
#include "tiff_memory.h"

namespace cudascan::scan {
namespace {

std::string encode_tiff(const Image &page) {
  TiffMemory file;
  const TiffPtr tiff = file.open("wm");
  check_tiff(tiff != nullptr, "begin a file");
  TIFF *to = tiff.get();
  TIFFSetField(to, TIFFTAG_IMAGEWIDTH, page.width);
  TIFFSetField(to, TIFFTAG_IMAGELENGTH, page.height);
  TIFFSetField(to, TIFFTAG_BITSPERSAMPLE, 1);
  TIFFSetField(to, TIFFTAG_SAMPLESPERPIXEL, 1);
  TIFFSetField(to, TIFFTAG_COMPRESSION, COMPRESSION_CCITTFAX4);
  TIFFSetField(to, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISWHITE);
  TIFFSetField(to, TIFFTAG_FILLORDER, FILLORDER_MSB2LSB);
  TIFFSetField(to, TIFFTAG_ROWSPERSTRIP, page.height);
  if (page.resolution.x > 0 && page.resolution.y > 0) {
    TIFFSetField(to, TIFFTAG_RESOLUTIONUNIT, RESUNIT_INCH);
    TIFFSetField(to, TIFFTAG_XRESOLUTION, page.resolution.x);
    TIFFSetField(to, TIFFTAG_YRESOLUTION, page.resolution.y);
  }
  std::string bits = pack(page);
  check_tiff(TIFFWriteEncodedStrip(to, 0, bits.data(), static_cast<tmsize_t>(bits.size())) >= 0,
             "compress the page");
  check_tiff(TIFFFlush(to) == 1, "end the file");
  return std::move(file.bytes);
}

std::string encode_png(const Image &page) {
  std::string bits = pack(page);
  for (char &byte : bits) byte = static_cast<char>(~byte);
  PngMemory file;
  file.begin(page.width, page.height, 1, PNG_COLOR_TYPE_GRAY, page.resolution);
  png_set_filter(file.png, 0, PNG_FILTER_NONE);
  png_write_info(file.png, file.info);
  const std::size_t stride = (page.width + 7) / 8;
  for (int y = 0; y < page.height; ++y)
    png_write_row(file.png, reinterpret_cast<png_const_bytep>(bits.data() + y * stride));
  png_write_end(file.png, file.info);
  return std::move(file.bytes);
}

}  // namespace

std::string pack(const Image &page) {
  const int stride = (page.width + 7) / 8, whole = page.width / 8;
  std::string bits(static_cast<std::size_t>(stride) * page.height, '\0');
  const auto levels = page.plane<const std::uint8_t>();
  for (int y = 0; y < page.height; ++y) {
    const std::uint8_t *from = levels.row(y);
    char *to = bits.data() + std::size_t{1} * y * stride;
    for (int i = 0; i < whole; ++i) {
      std::uint64_t eight;  // pixel j in the 8 bits from bit 8 j on, which are equal
      std::memcpy(&eight, from + 8 * i, 8);
      to[i] = static_cast<char>(((~eight & 0x0101010101010101) * 0x8040201008040201) >> 56);
    }
    for (int x = 8 * whole; x < page.width; ++x)
      if (from[x] == 0) to[whole] = static_cast<char>(to[whole] | (0x80 >> (x % 8)));
  }
  return bits;
}

std::string group4_of(const Image &page) {
  const std::string file = encode_tiff(page);
  TiffMemory memory{file};
  const TiffPtr tiff = memory.open("rm");
  check_tiff(tiff != nullptr, "read a page");
  std::string strip(static_cast<std::size_t>(TIFFRawStripSize(tiff.get(), 0)), '\0');
  const auto size = static_cast<tmsize_t>(strip.size());
  check_tiff(TIFFReadRawStrip(tiff.get(), 0, strip.data(), size) == size, "read a page");
  return strip;
}

std::string encode(const Image &page, Format format) {
  return format == Format::tiff ? encode_tiff(page) : encode_png(page);
}

}  // namespace cudascan::scan
