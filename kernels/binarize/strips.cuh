// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// A thread's strip of darkness: a word of samples in each of some rows, and what is around it.
#pragma once
#include "kernels/binarize/planes.cuh"

namespace cudascan::binarize {

inline constexpr int kStrip = 8;  ///< rows

/// A word of samples and its neighbours in the row.
struct ThreeWords {
  unsigned left, own, right;
};

/// The words before and after those of samples: shifted by one sample.
template <typename T>
__device__ unsigned one_before(const ThreeWords &w) {
  return __funnelshift_r(w.left, w.own, 32 - 8 * sizeof(T));
}
template <typename T>
__device__ unsigned one_after(const ThreeWords &w) {
  return __funnelshift_r(w.own, w.right, 8 * sizeof(T));
}

/// The least of 5 samples around each sample of a word, along the row.
template <typename T>
__device__ Packed<T> least_of_5(const ThreeWords &w) {
  const Smallest least;
  const unsigned two_before = sizeof(T) == 1 ? __funnelshift_r(w.left, w.own, 16) : w.left;
  const unsigned two_after = sizeof(T) == 1 ? __funnelshift_r(w.own, w.right, 16) : w.right;
  const Packed<T> a = least(Packed<T>::of(one_before<T>(w)), Packed<T>::of(one_after<T>(w)));
  const Packed<T> b = least(Packed<T>::of(two_before), Packed<T>::of(two_after));
  return least(Packed<T>::of(w.own), least(a, b));
}

/// A word of each row of a strip, and of two rows before and after it.
template <typename T>
struct StripWords {
  ThreeWords words[kStrip + 4];

  /// @param x  of a whole word; rows have padding
  __device__ StripWords(const Plane<T> &plane, int x, int y) {
#pragma unroll
    for (int r = 0; r < kStrip + 4; ++r) {
      const T *const row = plane.row(min(max(y - 2 + r, 0), plane.height - 1));
      const auto *const word = reinterpret_cast<const unsigned *>(row + x);
      words[r] = {word[-1], word[0], word[1]};
    }
  }
  __device__ unsigned own(int r) const {
    return words[r + 2].own;
  }

  /// Least darknesses of 5x5 pixels.
  __device__ void least_of_5x5(unsigned (&result)[kStrip]) const {
    const Smallest least;
    Packed<T> rows[kStrip + 4];
#pragma unroll
    for (int r = 0; r < kStrip + 4; ++r) rows[r] = least_of_5<T>(words[r]);
#pragma unroll
    for (int r = 0; r < kStrip; ++r) {
      const Packed<T> four = least(least(rows[r], rows[r + 1]), least(rows[r + 2], rows[r + 3]));
      result[r] = least(four, rows[r + 4]).word();
    }
  }
};

}  // namespace cudascan::binarize
