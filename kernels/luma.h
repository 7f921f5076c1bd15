// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The luma of images that have no plane of it: RGB, packed or planar, packed YUV, and samples in
/// parts of words. An operator works on a plane of luma; these functions make it, and put the
/// result back.
#pragma once
#include <cstdint>

#include "kernels/exec.h"

namespace cudascan {

/// The weights of red, green and blue in the luma, in units of 2^-16. Their sum is 2^16, so white
/// is white.
struct LumaWeights {
  std::uint32_t red, green, blue;
};

/// The weights of a standard for its Kr and Kb: 0.299 and 0.114 in Rec. ITU-R BT.601, 0.2126 and
/// 0.0722 in BT.709, 0.2627 and 0.0593 in BT.2020.
/// @throws BadSetting unless 0 < kr, 0 < kb and kr + kb < 1
CUDASCAN_API LumaWeights luma_weights(double kr, double kb);

/// An image in RGB. The planes have the same size; neighbouring samples of one are `step` apart.
///
/// @tparam T  std::uint8_t or std::uint16_t, const for an input
template <typename T>
struct RgbPlanes {
  Plane<T> red, green, blue;
  Plane<T> other{};      ///< alpha, or what pads a pixel; data is nullptr if there is none
  bool is_alpha = true;  ///< otherwise it need not be kept
  int step = 1;          ///< 1 in planar formats, 3 or 4 in packed ones
};

/// A packed image in YUV: luma is in every step-th sample, from `first` on. In YUY2 these are 0 and
/// 2, in UYVY 1 and 2, in AYUV 1 and 4.
template <typename T>
struct PackedYuv {
  Plane<T> samples;  ///< all of them: the width counts luma, chroma and alpha
  int width = 0;     ///< pixels in a row
  int first = 0, step = 2;
  int alpha = -1;  ///< the first sample of alpha, or -1; from there on every step-th
};

/// What the samples of an image of 10 bits are. Three are in each word of 32 bits, from the lowest
/// bits on; the other two bits are alpha, or nothing.
enum class Tens {
  gray,    ///< three pixels; GRAY10_LE32
  yuv422,  ///< six pixels in four words: U0 Y0 V0, Y1 U2 Y2, V2 Y3 U4, Y4 V4 Y5; v210
  yuv444,  ///< U, Y and V of a pixel; Y410
  rgb,     ///< of a pixel; RGB10A2_LE
  bgr,     ///< of a pixel; BGR10A2_LE
};

/// The words of a row of so many pixels.
constexpr int words_of(Tens samples, int width) {
  if (samples == Tens::gray) return (width + 2) / 3;
  return samples == Tens::yuv422 ? (width + 5) / 6 * 4 : width;
}

/// An image with samples of 10 bits in words.
/// @tparam Word  std::uint32_t, const for an input
template <typename Word>
struct PackedTens {
  Plane<Word> words;
  int width = 0;  ///< pixels in a row
  Tens samples = Tens::gray;
};

/// The luma of each pixel, rounded: the sum of the weighted samples.
/// @throws BadSetting for planes whose sizes do not match; so do the others
CUDASCAN_API void get_luma(Cpu &, const RgbPlanes<const std::uint8_t> &in, const LumaWeights &,
                           Plane<std::uint8_t> out);
CUDASCAN_API void get_luma(Cpu &, const RgbPlanes<const std::uint16_t> &in, const LumaWeights &,
                           Plane<std::uint16_t> out);
CUDASCAN_API void get_luma(Cpu &, const PackedYuv<const std::uint8_t> &in, Plane<std::uint8_t> out);
CUDASCAN_API void get_luma(Cpu &, const PackedYuv<const std::uint16_t> &in,
                           Plane<std::uint16_t> out);
/// @param weights  for RGB; others have their luma
CUDASCAN_API void get_luma(Cpu &, const PackedTens<const std::uint32_t> &in, const LumaWeights &,
                           Plane<std::uint16_t> out);
/// The same on the GPU, on planes in device memory. Throws Error in a build without CUDA.
CUDASCAN_API void get_luma(Cuda &, const RgbPlanes<const std::uint8_t> &in, const LumaWeights &,
                           Plane<std::uint8_t> out);
CUDASCAN_API void get_luma(Cuda &, const RgbPlanes<const std::uint16_t> &in, const LumaWeights &,
                           Plane<std::uint16_t> out);
CUDASCAN_API void get_luma(Cuda &, const PackedYuv<const std::uint8_t> &in,
                           Plane<std::uint8_t> out);
CUDASCAN_API void get_luma(Cuda &, const PackedYuv<const std::uint16_t> &in,
                           Plane<std::uint16_t> out);
CUDASCAN_API void get_luma(Cuda &, const PackedTens<const std::uint32_t> &in, const LumaWeights &,
                           Plane<std::uint16_t> out);

/// Where the colours of a result come from.
enum class Colors {
  kept,  ///< from the input
  none,  ///< all colours are gray
};

/// Gives the pixels of an image another luma. With Colors::kept the hue stays: each colour keeps
/// its distances to the luma, all shortened by the same factor where a sample would leave its
/// range. Without colours the samples are the luma, and chroma is neutral. Alpha is that of the
/// input, padding the largest sample; in words of 10 bits both are those of the input.
/// @param luma  of the result
/// @param out   in the layout of the input; it does not overlap it
CUDASCAN_API void set_luma(Cpu &, const RgbPlanes<const std::uint8_t> &in, const LumaWeights &,
                           Plane<const std::uint8_t> luma, Colors,
                           const RgbPlanes<std::uint8_t> &out);
CUDASCAN_API void set_luma(Cpu &, const RgbPlanes<const std::uint16_t> &in, const LumaWeights &,
                           Plane<const std::uint16_t> luma, Colors,
                           const RgbPlanes<std::uint16_t> &out);
CUDASCAN_API void set_luma(Cpu &, const PackedYuv<const std::uint8_t> &in,
                           Plane<const std::uint8_t> luma, Colors,
                           const PackedYuv<std::uint8_t> &out);
CUDASCAN_API void set_luma(Cpu &, const PackedYuv<const std::uint16_t> &in,
                           Plane<const std::uint16_t> luma, Colors,
                           const PackedYuv<std::uint16_t> &out);
CUDASCAN_API void set_luma(Cpu &, const PackedTens<const std::uint32_t> &in, const LumaWeights &,
                           Plane<const std::uint16_t> luma, Colors,
                           const PackedTens<std::uint32_t> &out);
/// The same on the GPU.
CUDASCAN_API void set_luma(Cuda &, const RgbPlanes<const std::uint8_t> &in, const LumaWeights &,
                           Plane<const std::uint8_t> luma, Colors,
                           const RgbPlanes<std::uint8_t> &out);
CUDASCAN_API void set_luma(Cuda &, const RgbPlanes<const std::uint16_t> &in, const LumaWeights &,
                           Plane<const std::uint16_t> luma, Colors,
                           const RgbPlanes<std::uint16_t> &out);
CUDASCAN_API void set_luma(Cuda &, const PackedYuv<const std::uint8_t> &in,
                           Plane<const std::uint8_t> luma, Colors,
                           const PackedYuv<std::uint8_t> &out);
CUDASCAN_API void set_luma(Cuda &, const PackedYuv<const std::uint16_t> &in,
                           Plane<const std::uint16_t> luma, Colors,
                           const PackedYuv<std::uint16_t> &out);
CUDASCAN_API void set_luma(Cuda &, const PackedTens<const std::uint32_t> &in, const LumaWeights &,
                           Plane<const std::uint16_t> luma, Colors,
                           const PackedTens<std::uint32_t> &out);

}  // namespace cudascan
