// SPDX-License-Identifier: LGPL-2.1-or-later
#include "text_image.h"

#include "crop.h"
#include "encode.h"
#include "kernels/rotate.h"

namespace cudascan::scan {
namespace {

// Chosen on printed pages of half a (measure_text.py): at 100, 150 and 200 dots per inch tesseract
// finds 85, 98 and 99.6 % of the words in gray, 68, 94 and 98.4 % in black and white. From 300 on
// it is within 1 %, and on worn pages black and white is better.
constexpr double kGrayBelow = 250;

std::string pgm(const Image &page) {
  std::string bytes =
      "P5\n" + std::to_string(page.width) + ' ' + std::to_string(page.height) + "\n255\n";
  const auto levels = page.plane<const std::uint8_t>();
  for (int y = 0; y < page.height; ++y)
    bytes.append(reinterpret_cast<const char *>(levels.row(y)), page.width);
  return bytes;
}

}  // namespace

std::string text_image(const Image &source, const Image &result, const Steps &steps,
                       const Findings &found) {
  const bool small = result.resolution.y > 0 && result.resolution.y < kGrayBelow;
  if (!small || source.content != Content::gray || source.depth != 8 || steps.paper.width > 0)
    return encode(result, Format::tiff);
  const Image *page = &source;
  Image turned, cropped;
  if (found.turned) {
    turned.shape(source.width, source.height, 8);
    turned.resolution = source.resolution;
    Cpu cpu(1);
    run(cpu, source.plane<const std::uint8_t>(), turned.plane<std::uint8_t>(),
        RotateParams{.angle = -found.angle});
    page = &turned;
  }
  if (steps.crop != Crop::no) {
    cut(*page, found.box, {}, cropped);
    page = &cropped;
  }
  const bool same = page->width == result.width && page->height == result.height;
  return same ? pgm(*page) : encode(result, Format::tiff);
}

}  // namespace cudascan::scan
