// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Shared by the CPU and CUDA implementations of paint_hues().
#pragma once
#include "kernels/base/refuse.h"
#include "kernels/hue.h"

namespace cudascan::hues {

/// 8-bit chroma for an angle in degrees, minus the colourless value.
struct Wheel {
  std::int8_t u[180], v[180];
};

constexpr Wheel make_wheel() {
  // 112 cos(2 k degrees), rounded.
  constexpr std::int8_t kQuarter[46] = {112, 112, 112, 111, 111, 110, 110, 109, 108, 107, 105, 104,
                                        102, 101, 99,  97,  95,  93,  91,  88,  86,  83,  81,  78,
                                        75,  72,  69,  66,  63,  59,  56,  53,  49,  46,  42,  38,
                                        35,  31,  27,  23,  19,  16,  12,  8,   4,   0};
  const auto cosine = [&](int k) {
    if (k > 90) k = 180 - k;
    return static_cast<std::int8_t>(k <= 45 ? kQuarter[k] : -kQuarter[90 - k]);
  };
  Wheel wheel{};
  for (int k = 0; k < 180; ++k) {
    wheel.u[k] = cosine(k);
    wheel.v[k] = cosine((k + 135) % 180);
  }
  return wheel;
}

template <typename T>
struct HueJob {
  Plane<const T> angles;
  ChromaPlanes<T> out;
  int low_bits;  ///< unused low bits of the format, in an angle
  int unit;      ///< one level of 8 bits
  Wheel wheel;

  /// Paints one sample of u and of v.
  CUDASCAN_HD void paint(int x, int y) const {
    const int sample = angles.row(y << out.shift_y)[x << out.shift_x];
    const int angle = (sample >> low_bits) % 180;
    out.u.row(y)[x * out.step] = static_cast<T>((128 + wheel.u[angle]) * unit);
    out.v.row(y)[x * out.step] = static_cast<T>((128 + wheel.v[angle]) * unit);
  }
};

template <typename T>
HueJob<T> make_job(Plane<const T> angles, const ChromaPlanes<T> &out) {
  const auto size = [](int pixels, int shift) { return (pixels + (1 << shift) - 1) >> shift; };
  const int width = size(angles.width, out.shift_x), height = size(angles.height, out.shift_y);
  const Plane<T> planes[] = {out.u, out.v};
  for (const Plane<T> &plane : planes)
    if (plane.width != width || plane.height != height)
      refuse("the chroma plane is ", plane.width, "x", plane.height, ": for an image of ",
             angles.width, "x", angles.height, " it must be ", width, "x", height);
  constexpr Wheel kWheel = make_wheel();
  return {angles, out, unused_low_bits(angles.maximum), 1 << (bit_depth(angles.maximum) - 8),
          kWheel};
}

}  // namespace cudascan::hues
