// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Shared by the CPU and CUDA implementations of get_luma() and set_luma(): the arithmetic of a
/// pixel, and the checks of a call.
#pragma once
#include "kernels/base/refuse.h"
#include "kernels/luma.h"

namespace cudascan::lumas {

/// Samples of up to 16 bits times weights of 16 bits, and their sum, fit into 32 bits.
inline constexpr int kWeightBits = 16;

CUDASCAN_HD inline unsigned luma_of(const unsigned (&rgb)[3], const LumaWeights &w) {
  return (w.red * rgb[0] + w.green * rgb[1] + w.blue * rgb[2] + (1U << (kWeightBits - 1))) >>
         kWeightBits;
}

/// A quotient of 16-bit numbers.
struct Ratio {
  unsigned over, under;

  CUDASCAN_HD bool is_less(const Ratio &other) const {
    return over * other.under < other.over * under;
  }
  /// This many times `n`, rounded. The ratio is at most one.
  CUDASCAN_HD unsigned of(unsigned n) const { return (n * over + under / 2) / under; }
};

/// Gives a colour another luma, which keeps its hue.
CUDASCAN_HD inline void recolor(unsigned (&rgb)[3], const LumaWeights &weights, unsigned luma,
                                unsigned maximum) {
  const unsigned before = luma_of(rgb, weights);
  Ratio most{1, 1};  // of the distances to the luma that fit into the range
  for (const unsigned sample : rgb) {
    const bool up = sample > before;
    const Ratio room{up ? maximum - luma : luma, up ? sample - before : before - sample};
    if (room.over < room.under && room.is_less(most)) most = room;
  }
  if (most.over == most.under) {  // most pixels, and division is slow
    for (unsigned &sample : rgb) sample += luma - before;
    return;
  }
  for (unsigned &sample : rgb)
    sample = sample > before ? luma + most.of(sample - before) : luma - most.of(before - sample);
}

/// Refuses a plane of another size than the luma's.
template <typename T, typename Luma>
void check_part(const char *name, Plane<T> plane, int samples, Plane<Luma> luma) {
  check_sizes(luma.width, luma.height, luma.width, luma.height);
  if (plane.width != samples || plane.height != luma.height)
    refuse("the ", name, " plane is ", plane.width, "x", plane.height, ": for a luma of ",
           luma.width, "x", luma.height, " it must be ", samples, "x", luma.height);
  if (reinterpret_cast<std::uintptr_t>(plane.data) % sizeof(T) != 0 ||
      plane.stride % static_cast<std::ptrdiff_t>(sizeof(T)) != 0)
    refuse("the data and the stride of the ", name, " plane must be multiples of ", sizeof(T),
           ", the bytes of a sample; copy it to aligned memory");
}

template <typename T, typename Luma>
void check(const RgbPlanes<T> &rgb, Plane<Luma> luma) {
  check_rows("luma", luma);
  check_part("red", rgb.red, luma.width, luma);
  check_part("green", rgb.green, luma.width, luma);
  check_part("blue", rgb.blue, luma.width, luma);
  if (rgb.other.data) check_part("fourth", rgb.other, luma.width, luma);
  if (rgb.step < 1) refuse("the step of the colours is ", rgb.step, ": must be at least 1");
}

template <typename T, typename Luma>
void check(const PackedYuv<T> &yuv, Plane<Luma> luma) {
  check_rows("luma", luma);
  if (yuv.width != luma.width)
    refuse("the packed image has ", yuv.width, " pixels in a row, the luma ", luma.width,
           ": both must have the same size");
  check_part("packed", yuv.samples, yuv.samples.width, luma);
  if (yuv.first < 0 || yuv.step < 1 ||
      yuv.first + std::int64_t{yuv.step} * (yuv.width - 1) >= yuv.samples.width)
    refuse("luma from sample ", yuv.first, " on in steps of ", yuv.step, " for ", yuv.width,
           " pixels does not fit into rows of ", yuv.samples.width, " samples");
}

/// Refuses two images of different layouts, too.
template <typename T, typename Luma>
void check(const RgbPlanes<const T> &in, const RgbPlanes<T> &out, Plane<Luma> luma) {
  check(in, luma);
  check(out, luma);
  if (in.step != out.step)
    refuse("the step of the input is ", in.step, ", that of the output ", out.step,
           ": both must have the same layout");
}
template <typename T, typename Luma>
void check(const PackedYuv<const T> &in, const PackedYuv<T> &out, Plane<Luma> luma) {
  check(in, luma);
  check(out, luma);
  if (in.step != out.step || in.first != out.first || in.samples.width != out.samples.width)
    refuse("luma from sample ", in.first, " of ", in.samples.width, " on in steps of ", in.step,
           " in the input, from ", out.first, " of ", out.samples.width, " in steps of ", out.step,
           " in the output: both must have the same layout");
}

/// The neutral chroma of samples up to `maximum`: the middle, 128 of 255.
template <typename T>
constexpr T neutral(T maximum) {
  return static_cast<T>(maximum / 2 + 1);
}

}  // namespace cudascan::lumas
