// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What the CPU and CUDA implementations of rotate share: where a pixel comes from, and what is made of
/// the samples there.
#pragma once
#include "kernels/rotate.h"

namespace cudascan::rotation {

/// Places are rounded to 1/64 pixel.
inline constexpr int kPhaseBits = 6, kPhases = 1 << kPhaseBits;
/// Weights are in units of 2^-11.
inline constexpr int kWeightBits = 11;
/// The sums over rows of 16-bit samples are rounded to quarters of a level, so that those over columns
/// fit 32 bits. Sums of absolute weights are at most 1.25.
template <typename T>
inline constexpr int kRowShift = sizeof(T) == 1 ? 0 : kWeightBits - 2;

/// Works out the weights of the samples at -1, 0, 1 and 2 from the whole part of a place, by its fraction
/// in 1/64; an integer, or one in each lane of a vector. Cubic ones are Keys' with a = -1/2, rounded; that
/// of the sample at the whole part takes what is left of one.
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

/// All of them, to look up.
struct Weights {
  alignas(16) std::int16_t of[kPhases][4];
};

/// A place in the input, in units of 2^-32 pixels, half a phase beyond what it stands for, so that
/// cutting off rounds.
struct Place {
  std::int64_t x, y;

  static CUDASCAN_HD int whole(std::int64_t v) { return static_cast<int>(v >> 32); }
  static CUDASCAN_HD int phase(std::int64_t v) {
    return static_cast<int>(v >> (32 - kPhaseBits)) & (kPhases - 1);
  }
};

template <typename T>
struct Job {
  Plane<const T> in;
  Plane<T> out;
  Place first;                ///< of the pixel at the top left
  std::int64_t cosine, sine;  ///< in units of 2^-32
  bool constant;              ///< the border
  T outside;                  ///< without bits that the format does not have
  int low_bits;               ///< of a sample, that the format does not have
  RotateInterpolation interpolation;
  Weights weights;

  CUDASCAN_HD Place place(int x, int y) const {
    return {first.x + x * cosine - y * sine, first.y + x * sine + y * cosine};
  }

  /// Whether all 4x4 samples around a place are in the image.
  CUDASCAN_HD bool inside(const Place &p) const {
    const int x = Place::whole(p.x), y = Place::whole(p.y);
    return x >= 1 && y >= 1 && x < in.width - 2 && y < in.height - 2;
  }

  /// A row's weighted sum, as sums over rows are made of it.
  static CUDASCAN_HD int round_row(int sum) {
    constexpr int kShift = kRowShift<T>;
    return kShift == 0 ? sum : (sum + ((1 << kShift) >> 1)) >> kShift;
  }

  /// The sample for a sum over rows.
  CUDASCAN_HD T finish(int sum) const {
    const int shift = 2 * kWeightBits - kRowShift<T> + low_bits;
    const int level = (sum + (1 << (shift - 1))) >> shift, top = in.maximum >> low_bits;
    return static_cast<T>((level < 0 ? 0 : level < top ? level : top) << low_bits);
  }

  /// The pixel for a place whose samples are all in the image.
  CUDASCAN_HD T blend_inside(const Place &p) const {
    const int x = Place::whole(p.x) - 1, y = Place::whole(p.y) - 1;
    return blend(p, [&](int i, int j) { return in.row(y + j)[x + i]; });
  }

  /// The pixel for any place.
  CUDASCAN_HD T blend_at_edge(const Place &p) const {
    const int x = Place::whole(p.x) - 1, y = Place::whole(p.y) - 1;
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

  /// Of 4x4 samples that at(column, row) gives.
  template <typename At>
  CUDASCAN_HD T blend(const Place &p, const At &at) const {
    const std::int16_t *const across = weights.of[Place::phase(p.x)];
    const std::int16_t *const down = weights.of[Place::phase(p.y)];
    int sum = 0;
    for (int j = 0; j < 4; ++j) {
      int row = 0;
      for (int i = 0; i < 4; ++i) row += across[i] * at(i, j);
      sum += down[j] * round_row(row);
    }
    return finish(sum);
  }
};

/// Checks the call and works out what all pixels share.
template <typename T>
Job<T> make_job(const RotateParams &params, Plane<const T> in, Plane<T> out);

}  // namespace cudascan::rotation
