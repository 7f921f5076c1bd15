// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/luma.h"

#include <algorithm>
#include <cmath>

#include "kernels/luma/pixel.h"

namespace cudascan {
namespace {

constexpr int kMinRows = 16;  // fewer rows do not justify a thread

/// Calls of(std::integral_constant) for the usual steps, so that loops are compiled for each.
template <typename Of>
void with_step(int step, const Of &of) {
  switch (step) {
    case 1:
      return of(std::integral_constant<int, 1>());
    case 2:
      return of(std::integral_constant<int, 2>());
    case 3:
      return of(std::integral_constant<int, 3>());
    case 4:
      return of(std::integral_constant<int, 4>());
    default:
      return of(step);
  }
}

template <typename T>
void get(Cpu &cpu, const RgbPlanes<const T> &in, const LumaWeights &weights, Plane<T> out) {
  lumas::check(in, out);
  with_step(in.step, [&](auto step) {
    cpu.for_bands(out.height, kMinRows, [&](int begin, int end) {
      for (int y = begin; y < end; ++y) {
        const T *const red = in.red.row(y), *const green = in.green.row(y),
                       *const blue = in.blue.row(y);
        T *const to = out.row(y);
        for (int x = 0; x < out.width; ++x)
          to[x] = static_cast<T>(
              lumas::luma_of({red[x * step], green[x * step], blue[x * step]}, weights));
      }
    });
  });
}

template <typename T>
void get(Cpu &cpu, const PackedYuv<const T> &in, Plane<T> out) {
  lumas::check(in, out);
  with_step(in.step, [&](auto step) {
    cpu.for_bands(out.height, kMinRows, [&](int begin, int end) {
      for (int y = begin; y < end; ++y) {
        const T *const from = in.samples.row(y) + in.first;
        T *const to = out.row(y);
        for (int x = 0; x < out.width; ++x) to[x] = from[x * step];
      }
    });
  });
}

template <typename T>
void set(Cpu &cpu, const RgbPlanes<const T> &in, const LumaWeights &weights, Plane<const T> luma,
         Colors colors, const RgbPlanes<T> &out) {
  lumas::check(in, out, luma);
  const unsigned maximum = luma.maximum;
  with_step(in.step, [&](auto step) {
    cpu.for_bands(luma.height, kMinRows, [&](int begin, int end) {
      for (int y = begin; y < end; ++y) {
        const T *const from = luma.row(y);
        T *const red = out.red.row(y), *const green = out.green.row(y),
                 *const blue = out.blue.row(y);
        for (int x = 0; x < luma.width; ++x) {
          const auto at = x * step;
          unsigned rgb[3] = {from[x], from[x], from[x]};
          if (colors == Colors::kept) {
            rgb[0] = in.red.row(y)[at], rgb[1] = in.green.row(y)[at], rgb[2] = in.blue.row(y)[at];
            lumas::recolor(rgb, weights, from[x], maximum);
          }
          red[at] = static_cast<T>(rgb[0]);
          green[at] = static_cast<T>(rgb[1]);
          blue[at] = static_cast<T>(rgb[2]);
        }
        if (in.other.data && out.other.data)
          for (int x = 0; x < luma.width; ++x)
            out.other.row(y)[x * step] = in.is_alpha ? in.other.row(y)[x * step] : luma.maximum;
      }
    });
  });
}

template <typename T>
void set(Cpu &cpu, const PackedYuv<const T> &in, Plane<const T> luma, Colors colors,
         const PackedYuv<T> &out) {
  lumas::check(in, out, luma);
  const T neutral = lumas::neutral(luma.maximum);
  with_step(in.step, [&](auto step) {
    cpu.for_bands(luma.height, kMinRows, [&](int begin, int end) {
      for (int y = begin; y < end; ++y) {
        const T *const before = in.samples.row(y);
        T *const to = out.samples.row(y);
        if (colors == Colors::kept)
          std::copy_n(before, in.samples.width, to);
        else
          std::fill_n(to, in.samples.width, neutral);
        if (in.alpha >= 0)
          for (int i = in.alpha; i < in.samples.width; i += step) to[i] = before[i];
        for (int x = 0; x < luma.width; ++x) to[in.first + x * step] = luma.row(y)[x];
      }
    });
  });
}

}  // namespace

LumaWeights luma_weights(double kr, double kb) {
  if (!(kr > 0 && kb > 0 && kr + kb < 1))
    refuse("the weights of red and blue, ", kr, " and ", kb,
           ", must be above 0, and their sum below 1");
  constexpr std::uint32_t kOne = 1U << lumas::kWeightBits;
  const auto red = static_cast<std::uint32_t>(std::lround(kr * kOne)),
             blue = static_cast<std::uint32_t>(std::lround(kb * kOne));
  return {red, kOne - red - blue, blue};
}

void get_luma(Cpu &cpu, const RgbPlanes<const std::uint8_t> &in, const LumaWeights &weights,
              Plane<std::uint8_t> out) {
  get(cpu, in, weights, out);
}
void get_luma(Cpu &cpu, const RgbPlanes<const std::uint16_t> &in, const LumaWeights &weights,
              Plane<std::uint16_t> out) {
  get(cpu, in, weights, out);
}
void get_luma(Cpu &cpu, const PackedYuv<const std::uint8_t> &in, Plane<std::uint8_t> out) {
  get(cpu, in, out);
}
void get_luma(Cpu &cpu, const PackedYuv<const std::uint16_t> &in, Plane<std::uint16_t> out) {
  get(cpu, in, out);
}
void set_luma(Cpu &cpu, const RgbPlanes<const std::uint8_t> &in, const LumaWeights &weights,
              Plane<const std::uint8_t> luma, Colors colors, const RgbPlanes<std::uint8_t> &out) {
  set(cpu, in, weights, luma, colors, out);
}
void set_luma(Cpu &cpu, const RgbPlanes<const std::uint16_t> &in, const LumaWeights &weights,
              Plane<const std::uint16_t> luma, Colors colors, const RgbPlanes<std::uint16_t> &out) {
  set(cpu, in, weights, luma, colors, out);
}
void set_luma(Cpu &cpu, const PackedYuv<const std::uint8_t> &in, Plane<const std::uint8_t> luma,
              Colors colors, const PackedYuv<std::uint8_t> &out) {
  set(cpu, in, luma, colors, out);
}
void set_luma(Cpu &cpu, const PackedYuv<const std::uint16_t> &in, Plane<const std::uint16_t> luma,
              Colors colors, const PackedYuv<std::uint16_t> &out) {
  set(cpu, in, luma, colors, out);
}

}  // namespace cudascan
