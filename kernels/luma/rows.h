// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The inner loops of get_luma() and set_luma() on the CPU, compiled for several
/// instruction sets. Each processes one row.
#pragma once
#include "kernels/luma/layout.h"

namespace cudascan::lumas {

/// Which samples the pixels of a dense image have.
enum class PixelKind { planar, three, fourth_last, fourth_first };
inline constexpr int kKindsOfPixels = 4;

/// A row: of three planes, or of packed pixels from sample[0] on.
template <typename T>
struct RgbRow {
  T *sample[3];
};

/// @tparam T  type of samples
template <typename T>
struct LumaRows {
  /// The luma of n pixels; for each kind of pixels.
  void (*get[kKindsOfPixels])(const RgbRow<const T> &in, const ColourOrder &, int n, T *out);
  /// The pixels with another luma and the same hue. The fourth sample is that of the input or, if
  /// it is no alpha, the largest one.
  void (*recolor[kKindsOfPixels])(const RgbRow<const T> &in, const ColourOrder &, bool is_alpha,
                                  const T *luma, int n, T maximum, const RgbRow<T> &out);
  /// Gray pixels.
  void (*gray[kKindsOfPixels])(const RgbRow<const T> &in, bool is_alpha, const T *luma, int n,
                               T maximum, const RgbRow<T> &out);
  /// The luma of packed YUV with 2 or 4 samples in a pixel. A pixel is one number here, and the
  /// luma `shift` bits from its lowest.
  void (*get_packed[2])(const T *in, int shift, int n, T *out);
  /// PixelKind with another luma: of the input's bits those of `kept`, and those of `added`.
  void (*set_packed[2])(const T *in, const T *luma, int shift, std::uint64_t kept,
                        std::uint64_t added, int n, T *out);
};

/// The loops for this processor.
template <typename T>
const LumaRows<T> &rows();

}  // namespace cudascan::lumas
