// SPDX-License-Identifier: LGPL-2.1-or-later
#include "luma.h"

#include "clones.h"

namespace cudascan::scan {
namespace {

template <typename T>
[[gnu::always_inline]] inline T luma(const T *rgb) {
  const std::uint32_t red = rgb[0], green = rgb[1], blue = rgb[2];
  return static_cast<T>((19595 * red + 38470 * green + 7471 * blue + 32768) >> 16);
}

}  // namespace

CUDASCAN_CLONES void luma_of_rgb(const std::uint8_t *samples, int width, std::uint8_t *gray) {
  for (int x = 0; x < width; ++x) gray[x] = luma(samples + 3 * x);
}

CUDASCAN_CLONES void luma_of_rgb(const std::uint16_t *samples, int width, std::uint16_t *gray) {
  for (int x = 0; x < width; ++x) gray[x] = luma(samples + 3 * x);
}

}  // namespace cudascan::scan
