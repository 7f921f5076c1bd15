// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// How the samples of packed RGB lie in memory. The arithmetic does not depend on the order of the
/// colours, but for their weights: so it takes them as they come.
#pragma once
#include <algorithm>
#include <iterator>

#include "kernels/luma.h"

namespace cudascan::lumas {

/// The colours in the order of memory; in planar images red, green, blue.
struct ColourOrder {
  std::uint32_t weights[3];
  int first;  ///< sample of a pixel that is the first colour: 0, or 1 after alpha or padding
  int red;    ///< sample of a pixel that is red
};

/// The places of red, green and blue, and of the fourth sample (or of red again), in a pixel.
template <typename T>
struct Places {
  int of[4];

  explicit Places(const RgbPlanes<T> &rgb) {
    const T *const data[] = {rgb.red.data, rgb.green.data, rgb.blue.data,
                             rgb.other.data ? rgb.other.data : rgb.red.data};
    const T *const first = *std::min_element(std::begin(data), std::end(data));
    for (int i = 0; i < 4; ++i) of[i] = static_cast<int>(data[i] - first);
  }
  friend bool operator==(const Places &, const Places &) = default;
};

/// For images that are dense, see below.
template <typename T>
ColourOrder order_of(const RgbPlanes<T> &rgb, const LumaWeights &weights) {
  const std::uint32_t of[] = {weights.red, weights.green, weights.blue};
  ColourOrder order{{of[0], of[1], of[2]}, 0, 0};
  if (rgb.step == 1) return order;
  const Places<T> places(rgb);
  order.red = places.of[0];
  order.first = *std::min_element(places.of, places.of + 3);
  for (int c = 0; c < 3; ++c) order.weights[places.of[c] - order.first] = of[c];
  return order;
}

/// The first sample of each pixel of a packed image.
template <typename T>
Plane<T> pixels_of(const RgbPlanes<T> &rgb) {
  Plane<T> pixels = rgb.red;
  pixels.data -= Places<T>(rgb).of[0];
  return pixels;
}

/// Whether the image has this step, and its pixels are three neighbouring colours with nothing else
/// or, for a step of 4, with a fourth sample before or after them. A plane next to those of colours
/// has to be alpha.
template <int step, typename T>
bool is_dense(const RgbPlanes<T> &rgb) {
  if (rgb.step != step) return false;
  if constexpr (step == 1) return !rgb.other.data || rgb.is_alpha;
  if ((step == 4) != (rgb.other.data != nullptr)) return false;
  if (rgb.red.stride != rgb.green.stride || rgb.red.stride != rgb.blue.stride) return false;
  const Places<T> places(rgb);
  const int fourth = places.of[3];
  return *std::max_element(places.of, places.of + 4) == step - 1 &&
         (step == 3 || ((fourth == 0 || fourth == 3) && rgb.other.stride == rgb.red.stride));
}

}  // namespace cudascan::lumas
