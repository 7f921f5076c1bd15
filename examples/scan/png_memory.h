// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <png.h>

#include <cmath>
#include <string>

#include "common/error.h"
#include "image.h"

namespace cudascan::scan {

/// A PNG file that libpng writes to memory; its errors are thrown.
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

  png_structp png;
  png_infop info;
  std::string bytes;
};

}  // namespace cudascan::scan
