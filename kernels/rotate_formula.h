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

/// The weights of the samples at -1, 0, 1 and 2 from the whole part of a place, by its fraction.
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
  T outside;
  int low_bits;  ///< of a sample, that the format does not have
  Weights weights;

  CUDASCAN_HD Place place(int x, int y) const {
    return {first.x + x * cosine - y * sine, first.y + x * sine + y * cosine};
  }

  /// Whether all 4x4 samples around a place are in the image, and `more` to the right of them.
  CUDASCAN_HD bool inside(const Place &p, int more = 0) const {
    const int x = Place::whole(p.x), y = Place::whole(p.y);
    return x >= 1 && y >= 1 && x < in.width - 2 - more && y < in.height - 2;
  }

  /// The sample at any column and row.
  CUDASCAN_HD int sample(int x, int y) const {
    const int near_x = x < 0 ? 0 : x < in.width ? x : in.width - 1;
    const int near_y = y < 0 ? 0 : y < in.height ? y : in.height - 1;
    return constant && (near_x != x || near_y != y) ? outside : in.row(near_y)[near_x];
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

  /// The pixel for a place, of samples that at(column, row) gives.
  template <typename At>
  CUDASCAN_HD T blend(const Place &p, const At &at) const {
    const int x = Place::whole(p.x), y = Place::whole(p.y);
    const std::int16_t *const across = weights.of[Place::phase(p.x)];
    const std::int16_t *const down = weights.of[Place::phase(p.y)];
    int sum = 0;
    for (int j = 0; j < 4; ++j) {
      int row = 0;
      for (int i = 0; i < 4; ++i) row += across[i] * at(x + i - 1, y + j - 1);
      sum += down[j] * round_row(row);
    }
    return finish(sum);
  }
};

/// Checks the call and works out what all pixels share.
template <typename T>
Job<T> make_job(const RotateParams &params, Plane<const T> in, Plane<T> out);

}  // namespace cudascan::rotation
