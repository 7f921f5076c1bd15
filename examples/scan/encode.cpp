// SPDX-License-Identifier: LGPL-2.1-or-later
#include "encode.h"

#include <tiffio.h>

#include <cstring>
#include <utility>

#include "kernels/group4.h"
#include "png_data.h"
#include "png_memory.h"
#include "tiff_memory.h"

namespace cudascan::scan {
namespace {

std::string encode_png(const Image &page) {
  const std::string bits = pack(page);
  const std::size_t stride = (page.width + 7) / 8;
  std::string rows((stride + 1) * page.height, '\0');  // each begins with its filter, none
  for (int y = 0; y < page.height; ++y)
    for (std::size_t i = 0; i < stride; ++i)
      rows[(stride + 1) * y + 1 + i] = static_cast<char>(~bits[stride * y + i]);
  PngMemory file;
  file.begin(page.width, page.height, 1, PNG_COLOR_TYPE_GRAY, page.resolution);
  file.end(deflate_bits(rows));
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
  thread_local Cpu cpu(1);
  const std::vector<std::uint8_t> code = encode_group4(cpu, page.plane<const std::uint8_t>());
  return {code.begin(), code.end()};
}

std::string tiff_of(std::string group4, int width, int height, const Resolution &resolution) {
  TiffMemory file;
  const TiffPtr tiff = file.open("wm");
  check_tiff(tiff != nullptr, "begin a file");
  TIFF *to = tiff.get();
  TIFFSetField(to, TIFFTAG_IMAGEWIDTH, width);
  TIFFSetField(to, TIFFTAG_IMAGELENGTH, height);
  TIFFSetField(to, TIFFTAG_BITSPERSAMPLE, 1);
  TIFFSetField(to, TIFFTAG_SAMPLESPERPIXEL, 1);
  TIFFSetField(to, TIFFTAG_COMPRESSION, COMPRESSION_CCITTFAX4);
  TIFFSetField(to, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISWHITE);
  TIFFSetField(to, TIFFTAG_FILLORDER, FILLORDER_MSB2LSB);
  TIFFSetField(to, TIFFTAG_ROWSPERSTRIP, height);
  if (resolution.x > 0 && resolution.y > 0) {
    TIFFSetField(to, TIFFTAG_RESOLUTIONUNIT, RESUNIT_INCH);
    TIFFSetField(to, TIFFTAG_XRESOLUTION, resolution.x);
    TIFFSetField(to, TIFFTAG_YRESOLUTION, resolution.y);
  }
  const auto bytes = static_cast<tmsize_t>(group4.size());
  check_tiff(TIFFWriteRawStrip(to, 0, group4.data(), bytes) == bytes, "write the page");
  check_tiff(TIFFFlush(to) == 1, "end the file");
  return std::move(file.bytes);
}

std::string encode(const Image &page, Format format) {
  return format == Format::tiff ? tiff_of(group4_of(page), page.width, page.height, page.resolution)
                                : encode_png(page);
}

}  // namespace cudascan::scan
