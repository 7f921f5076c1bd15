// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <cstdint>
#include <cstring>

namespace cudascan::scan {

/// The luma of Rec. 601 with 16-bit weights, rounded, of interleaved red, green and blue. Gray
/// stored as colour keeps its levels.
void luma_of_rgb(const std::uint8_t *samples, int width, std::uint8_t *gray);
void luma_of_rgb(const std::uint16_t *samples, int width, std::uint16_t *gray);

/// Gray levels of a row with one sample a pixel or three interleaved ones.
template <typename T>
void luma_row(const T *samples, int samples_per_pixel, int width, T *gray) {
  if (samples_per_pixel == 1)
    std::memcpy(gray, samples, sizeof(T) * width);
  else
    luma_of_rgb(samples, width, gray);
}

}  // namespace cudascan::scan
