// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/luma.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/luma/layout.h"
#include "kernels/luma/pixel.h"
#include "kernels/luma/rows.h"

namespace cudascan {
namespace {

constexpr int kMinRows = 16;  // fewer rows do not justify a thread

/// The kind of pixels of a dense image, or kKindsOfPixels.
template <typename T>
int kind_of(const RgbPlanes<T> &rgb) {
  using lumas::PixelKind;
  if (lumas::is_dense<1>(rgb)) return static_cast<int>(PixelKind::planar);
  if (lumas::is_dense<3>(rgb)) return static_cast<int>(PixelKind::three);
  if (!lumas::is_dense<4>(rgb)) return lumas::kKindsOfPixels;
  return static_cast<int>(lumas::Places<T>(rgb).of[3] ? PixelKind::fourth_last
                                                      : PixelKind::fourth_first);
}

/// The row of an image with this place of red in its pixels.
template <typename T>
lumas::RgbRow<T> row_of(const RgbPlanes<T> &rgb, int red, int y) {
  if (rgb.step > 1) return {{rgb.red.row(y) - red, nullptr, nullptr}};
  return {{rgb.red.row(y), rgb.green.row(y), rgb.blue.row(y)}};
}

template <typename T>
void get(Cpu &cpu, const RgbPlanes<const T> &in, const LumaWeights &weights, Plane<T> out) {
  lumas::check(in, out);
  const int kind = kind_of(in);
  const bool is_dense = kind < lumas::kKindsOfPixels;
  const lumas::ColourOrder order = is_dense ? lumas::order_of(in, weights) : lumas::ColourOrder{};
  cpu.for_bands(out.height, kMinRows, [&](int begin, int end) {
    for (int y = begin; y < end; ++y) {
      if (is_dense) {
        lumas::rows<T>().get[kind](row_of(in, order.red, y), order, out.width, out.row(y));
        continue;
      }
      for (int x = 0; x < out.width; ++x) {
        const int at = x * in.step;
        out.row(y)[x] = static_cast<T>(
            lumas::luma_of({in.red.row(y)[at], in.green.row(y)[at], in.blue.row(y)[at]}, weights));
      }
    }
  });
}

/// Packed pixels of 2 or 4 samples as numbers, see rows.h.
template <typename T>
struct Numbers {
  bool usual;  ///< they have 2 or 4 samples
  int which;   ///< of the loops
  int shift;

  explicit Numbers(const PackedYuv<const T> &in)
      : usual((in.step == 2 || in.step == 4) && in.first < in.step && in.alpha < in.step &&
              std::endian::native == std::endian::little),
        which(in.step == 4),
        shift(usual ? in.first * kBits : 0) {}

  /// The bits of sample i.
  static std::uint64_t bits_of(int i, T value) { return std::uint64_t{value} << (kBits * i); }

  static constexpr int kBits = 8 * sizeof(T);
};

template <typename T>
void get(Cpu &cpu, const PackedYuv<const T> &in, Plane<T> out) {
  lumas::check(in, out);
  const Numbers<T> numbers(in);
  cpu.for_bands(out.height, kMinRows, [&](int begin, int end) {
    for (int y = begin; y < end; ++y) {
      const T *const from = in.samples.row(y);
      if (numbers.usual) {
        lumas::rows<T>().get_packed[numbers.which](from, numbers.shift, out.width, out.row(y));
        continue;
      }
      for (int x = 0; x < out.width; ++x) out.row(y)[x] = from[in.first + x * in.step];
    }
  });
}

/// Gives a pixel another luma.
template <typename T>
void set_pixel(const RgbPlanes<const T> &in, const LumaWeights &weights, Plane<const T> luma,
               Colors colors, const RgbPlanes<T> &out, int x, int y) {
  const int at = x * in.step;
  const unsigned level = luma.row(y)[x];
  unsigned rgb[3] = {level, level, level};
  if (colors == Colors::kept) {
    rgb[0] = in.red.row(y)[at], rgb[1] = in.green.row(y)[at], rgb[2] = in.blue.row(y)[at];
    lumas::recolor<T>(rgb, lumas::luma_of(rgb, weights), level, luma.maximum);
  }
  out.red.row(y)[at] = static_cast<T>(rgb[0]);
  out.green.row(y)[at] = static_cast<T>(rgb[1]);
  out.blue.row(y)[at] = static_cast<T>(rgb[2]);
  if (in.other.data && out.other.data)
    out.other.row(y)[at] = in.is_alpha ? in.other.row(y)[at] : luma.maximum;
}

template <typename T>
void set(Cpu &cpu, const RgbPlanes<const T> &in, const LumaWeights &weights, Plane<const T> luma,
         Colors colors, const RgbPlanes<T> &out) {
  lumas::check(in, out, luma);
  const RgbPlanes<const T> written{out.red, out.green, out.blue, out.other, out.is_alpha, out.step};
  const int kind = kind_of(in);
  const bool is_dense = kind < lumas::kKindsOfPixels && kind == kind_of(written) &&
                        (in.step == 1 || lumas::Places(in) == lumas::Places(written));
  const lumas::ColourOrder order = is_dense ? lumas::order_of(in, weights) : lumas::ColourOrder{};
  const lumas::LumaRows<T> &rows = lumas::rows<T>();
  cpu.for_bands(luma.height, kMinRows, [&](int begin, int end) {
    for (int y = begin; y < end; ++y) {
      if (!is_dense) {
        for (int x = 0; x < luma.width; ++x) set_pixel(in, weights, luma, colors, out, x, y);
        continue;
      }
      const lumas::RgbRow<const T> from = row_of(in, order.red, y);
      const lumas::RgbRow<T> to = row_of(out, order.red, y);
      if (colors == Colors::kept)
        rows.recolor[kind](from, order, in.is_alpha, luma.row(y), luma.width, luma.maximum, to);
      else
        rows.gray[kind](from, in.is_alpha, luma.row(y), luma.width, luma.maximum, to);
      if (in.step == 1 && in.other.data && out.other.data)
        std::copy_n(in.other.row(y), luma.width, out.other.row(y));
    }
  });
}

/// A sample of a result: the luma of a pixel, or what lies between.
template <typename T>
T sample_of(const PackedYuv<const T> &in, Plane<const T> luma, Colors colors, int i, int y) {
  const int x = (i - in.first) / in.step;
  if (i >= in.first && (i - in.first) % in.step == 0 && x < luma.width) return luma.row(y)[x];
  const bool is_alpha = in.alpha >= 0 && i >= in.alpha && (i - in.alpha) % in.step == 0;
  if (is_alpha || colors == Colors::kept) return in.samples.row(y)[i];
  return lumas::neutral(luma.maximum);
}

template <typename T>
void set(Cpu &cpu, const PackedYuv<const T> &in, Plane<const T> luma, Colors colors,
         const PackedYuv<T> &out) {
  lumas::check(in, out, luma);
  const Numbers<T> numbers(in);
  std::uint64_t kept = 0, added = 0;
  for (int i = 0; i < in.step && numbers.usual; ++i) {
    if (i == in.first) continue;
    if (i == in.alpha || colors == Colors::kept)
      kept |= numbers.bits_of(i, static_cast<T>(~T{0}));
    else
      added |= numbers.bits_of(i, lumas::neutral(luma.maximum));
  }
  cpu.for_bands(luma.height, kMinRows, [&](int begin, int end) {
    for (int y = begin; y < end; ++y) {
      T *const to = out.samples.row(y);
      int i = 0;
      if (numbers.usual) {
        // The last pixel of a row may lack its last samples.
        const int n = std::min(luma.width, in.samples.width / in.step);
        lumas::rows<T>().set_packed[numbers.which](in.samples.row(y), luma.row(y), numbers.shift,
                                                   kept, added, n, to);
        i = n * in.step;
      }
      for (; i < in.samples.width; ++i) to[i] = sample_of(in, luma, colors, i, y);
    }
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
