// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <cstdint>
#include <cstring>

namespace cudascan::scan {

/// Gray levels of a row with one sample a pixel or three interleaved ones: the luma of Rec. 601
/// with 16-bit weights, rounded. Gray stored as colour keeps its levels.
template <typename T>
void luma_row(const T *samples, int samples_per_pixel, int width, T *gray) {
  if (samples_per_pixel == 1) {
    std::memcpy(gray, samples, sizeof(T) * width);
    return;
  }
  for (int x = 0; x < width; ++x) {
    const std::uint32_t red = samples[3 * x], green = samples[3 * x + 1], blue = samples[3 * x + 2];
    gray[x] = static_cast<T>((19595 * red + 38470 * green + 7471 * blue + 32768) >> 16);
  }
}

}  // namespace cudascan::scan
