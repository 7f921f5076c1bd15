// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Shared by the CPU and CUDA implementations of rotate: where a pixel comes from, and how the
/// samples there are interpolated.
#pragma once
#include "kernels/rotate.h"

namespace cudascan::rotation {

/// Positions are rounded to 1/64 pixel.
inline constexpr int kPhaseBits = 6, kPhases = 1 << kPhaseBits;
/// Weights are in units of 2^-11.
inline constexpr int kWeightBits = 11;
/// With 16-bit samples, sums over rows are rounded to quarters of a level, so that sums over
/// columns fit into 32 bits. Sums of absolute weights are at most 1.25.
template <typename T>
inline constexpr int kRowShift = sizeof(T) == 1 ? 0 : kWeightBits - 2;

/// Computes the weights of the samples at -1, 0, 1 and 2 relative to the integer part of a
/// position, from its fraction in 1/64 (an integer, or one in each lane of a vector). Cubic weights
/// are Keys' with a = -1/2, rounded; the weight at the integer part is adjusted so that the sum is
/// one.
template <RotateInterpolation kInterpolation, typename Int>
[[gnu::always_inline]] constexpr void make_weights(const Int &k, Int (&w)[4]) {
  w[0] = w[2] = w[3] = k - k;
  if constexpr (kInterpolation == RotateInterpolation::nearest) {
    w[2] = (k >> (kPhaseBits - 1)) << kWeightBits;
  } else if constexpr (kInterpolation == RotateInterpolation::linear) {
    w[2] = k << (kWeightBits - kPhaseBits);
  } else {  // f = k / 64: (-f^3 + 2 f^2 - f) / 2, (-3 f^3 + 4 f^2 + f) / 2, (f^3 - f^2) / 2
    w[0] = (k * (k * (128 - k) - 4096) + 128) >> 8;
    w[2] = (k * (k * (256 - 3 * k) + 4096) + 128) >> 8;
    w[3] = (k * k * (k - 64) + 128) >> 8;
  }
  w[1] = (1 << kWeightBits) - w[0] - w[2] - w[3];
}

/// Table of all weights.
struct PhaseWeights {
  alignas(16) std::int16_t of[kPhases][4];
};

/// A position in the input, in units of 2^-32 pixels, plus half a phase, so that truncation rounds
/// to the nearest phase.
struct SourcePlace {
  std::int64_t x, y;

  static CUDASCAN_HD int whole(std::int64_t v) { return static_cast<int>(v >> 32); }
  static CUDASCAN_HD int phase(std::int64_t v) {
    return static_cast<int>(v >> (32 - kPhaseBits)) & (kPhases - 1);
  }
};

template <typename T>
struct RotateJob {
  Plane<const T> in;
  Plane<T> out;
  SourcePlace first;          ///< of the pixel at the top left
  std::int64_t cosine, sine;  ///< in units of 2^-32
  bool constant;              ///< the border
  T outside;                  ///< without unused bits of the format
  int low_bits;               ///< unused low bits of a sample
  RotateInterpolation interpolation;
  PhaseWeights weights;

  CUDASCAN_HD SourcePlace place(int x, int y) const {
    return {first.x + x * cosine - y * sine, first.y + x * sine + y * cosine};
  }

  /// Whether all 4x4 samples around a position are in the image.
  CUDASCAN_HD bool inside(const SourcePlace &p) const {
    const int x = SourcePlace::whole(p.x), y = SourcePlace::whole(p.y);
    return x >= 1 && y >= 1 && x < in.width - 2 && y < in.height - 2;
  }

  /// Rounds a row's weighted sum for the sum over rows.
  static CUDASCAN_HD int round_row(int sum) {
    constexpr int kShift = kRowShift<T>;
    return kShift == 0 ? sum : (sum + ((1 << kShift) >> 1)) >> kShift;
  }

  /// Rounds a sum over rows to a sample.
  CUDASCAN_HD T finish(int sum) const {
    const int shift = 2 * kWeightBits - kRowShift<T> + low_bits;
    const int level = (sum + (1 << (shift - 1))) >> shift, top = in.maximum >> low_bits;
    return static_cast<T>((level < 0 ? 0 : level < top ? level : top) << low_bits);
  }

  /// The pixel for a position whose samples are all in the image.
  CUDASCAN_HD T blend_inside(const SourcePlace &p) const {
    const int x = SourcePlace::whole(p.x) - 1, y = SourcePlace::whole(p.y) - 1;
    return blend(p, [&](int i, int j) { return in.row(y + j)[x + i]; });
  }

  /// The pixel for any position.
  CUDASCAN_HD T blend_at_edge(const SourcePlace &p) const {
    const int x = SourcePlace::whole(p.x) - 1, y = SourcePlace::whole(p.y) - 1;
    if (constant && (x < -3 || x >= in.width || y < -3 || y >= in.height)) return outside;
    return blend(p, [&](int i, int j) { return sample(x + i, y + j); });
  }

  /// The sample at any column and row.
  CUDASCAN_HD T sample(int x, int y) const {
    const int near_x = nearest(x, in.width), near_y = nearest(y, in.height);
    return constant && (near_x != x || near_y != y) ? outside : in.row(near_y)[near_x];
  }

 private:
  static CUDASCAN_HD int nearest(int at, int size) {
    return at < 0 ? 0 : at < size ? at : size - 1;
  }

  /// The pixel from 4x4 samples that at(column, row) gives.
  template <typename At>
  CUDASCAN_HD T blend(const SourcePlace &p, const At &at) const {
    const std::int16_t *const across = weights.of[SourcePlace::phase(p.x)];
    const std::int16_t *const down = weights.of[SourcePlace::phase(p.y)];
    int sum = 0;
    for (int j = 0; j < 4; ++j) {
      int row = 0;
      for (int i = 0; i < 4; ++i) row += across[i] * at(i, j);
      sum += down[j] * round_row(row);
    }
    return finish(sum);
  }
};

/// Checks the call and computes the values that all pixels share.
template <typename T>
RotateJob<T> make_job(const RotateParams &params, Plane<const T> in, Plane<T> out);

}  // namespace cudascan::rotation
