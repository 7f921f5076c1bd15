// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <png.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "common/error.h"
#include "image.h"

namespace cudascan::scan {

/// A PNG file that libpng writes to memory, but for its pixels; its errors are thrown.
class PngMemory {
 public:
  PngMemory() {
    const auto refuse = [](png_structp, png_const_charp text) {
      throw Error(std::string("libpng: ") + text);
    };
    png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, refuse,
                                  [](png_structp, png_const_charp) {});
    info = png_create_info_struct(png);
    png_set_write_fn(
        png, &bytes,
        [](png_structp to, png_bytep data, std::size_t size) {
          static_cast<std::string *>(png_get_io_ptr(to))
              ->append(reinterpret_cast<char *>(data), size);
        },
        [](png_structp) {});
  }
  ~PngMemory() { png_destroy_write_struct(&png, &info); }
  PngMemory(const PngMemory &) = delete;
  PngMemory &operator=(const PngMemory &) = delete;

  /// @param colours  a PNG_COLOR_TYPE
  void begin(int width, int height, int depth, int colours, const Resolution &resolution) {
    png_set_IHDR(png, info, width, height, depth, colours, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    constexpr double kInchesPerMetre = 1000 / kMmPerInch;
    if (resolution.x > 0 && resolution.y > 0)
      png_set_pHYs(png, info, std::lround(resolution.x * kInchesPerMetre),
                   std::lround(resolution.y * kInchesPerMetre), PNG_RESOLUTION_METER);
  }

  /// Ends the file with rows that are a zlib stream already.
  void end(const std::string &stream) {
    png_write_info(png, info);
    // Some programs refuse longer parts.
    constexpr std::size_t kPart = std::size_t{1} << 30;
    for (std::size_t at = 0; at < stream.size(); at += kPart)
      write_chunk("IDAT", stream.data() + at, std::min(kPart, stream.size() - at));
    write_chunk("IEND", nullptr, 0);
  }

  png_structp png;
  png_infop info;
  std::string bytes;

 private:
  void write_chunk(const char *type, const char *data, std::size_t size) {
    png_write_chunk(png, reinterpret_cast<png_const_bytep>(type),
                    reinterpret_cast<png_const_bytep>(data), size);
  }
};

}  // namespace cudascan::scan
