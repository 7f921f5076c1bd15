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

CUDASCAN_HD inline unsigned weighted(const unsigned (&samples)[3],
                                     const std::uint32_t (&weights)[3]) {
  return (weights[0] * samples[0] + weights[1] * samples[1] + weights[2] * samples[2] +
          (1U << (kWeightBits - 1))) >>
         kWeightBits;
}
CUDASCAN_HD inline unsigned luma_of(const unsigned (&rgb)[3], const LumaWeights &w) {
  return weighted(rgb, {w.red, w.green, w.blue});
}

/// A factor of at most one: a quotient of samples.
/// @tparam T  type of samples
template <typename T>
class Factor {
 public:
  CUDASCAN_HD Factor(unsigned over, unsigned under)
      : over_(over), under_(under), inverse_(reciprocal(static_cast<float>(under))) {}

  /// This many times `n`, rounded.
  CUDASCAN_HD unsigned of(unsigned n) const {
    const unsigned product = n * over_ + under_ / 2;
    if constexpr (sizeof(T) == 1) {
      // The exact quotient is at least half of 1 / under_ away from whole numbers, and the error of
      // these operations is below 2^-13.
      return static_cast<unsigned>(
          static_cast<int>((static_cast<float>(product) + 0.5F) * inverse_));
    }
    const auto quotient = static_cast<unsigned>(static_cast<float>(product) * inverse_);
    const int rest = static_cast<int>(product - quotient * under_);  // the quotient may be off by 1
    return quotient + (rest >= static_cast<int>(under_)) - (rest < 0);
  }

 private:
  CUDASCAN_HD static float reciprocal(float v) {
#ifdef __CUDA_ARCH__
    return __fdividef(1.0F, v);  // within 2 units in the last place
#else
    return 1.0F / v;
#endif
  }

  unsigned over_, under_;
  float inverse_;
};

/// Gives a colour another luma, which keeps its hue.
/// @param before  its luma, which lies between its samples
template <typename T>
CUDASCAN_HD inline void recolor(unsigned (&rgb)[3], unsigned before, unsigned luma,
                                unsigned maximum) {
  const auto smaller = [](unsigned a, unsigned b) { return a < b ? a : b; };
  const auto larger = [](unsigned a, unsigned b) { return a < b ? b : a; };
  const unsigned above = larger(larger(rgb[0], rgb[1]), rgb[2]) - before,
                 below = before - smaller(smaller(rgb[0], rgb[1]), rgb[2]);
  // The room above and below, over what is needed: the smaller quotient is the factor.
  const unsigned headroom = maximum - luma;
  unsigned over = 1, under = 1;
  if (headroom < above) over = headroom, under = above;
  if (luma < below && luma * under < over * below) over = luma, under = below;
#ifdef __CUDA_ARCH__
  if (over == under) {  // most pixels
    for (unsigned &sample : rgb) sample += luma - before;
    return;
  }
#endif
  const Factor<T> factor(over, under);
  for (unsigned &sample : rgb) {
    const bool is_above = sample > before;
    const unsigned distance = factor.of(is_above ? sample - before : before - sample);
    sample = is_above ? luma + distance : luma - distance;
  }
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
