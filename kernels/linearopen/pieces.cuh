// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// A thread's piece of a row.
#pragma once
#include <cuda_runtime.h>

#include "kernels/base/packed_samples.cuh"

namespace cudascan::linearopen {

/// A thread's part of a row.
template <int words>
struct alignas(4 * words) Piece {
  unsigned word[words];
};
/// The same, as registers for minima and maxima.
template <typename T, int words>
struct SpreadPiece {
  Packed<T> word[words];

  static __device__ SpreadPiece of(const Piece<words> &piece) {
    SpreadPiece s;
#pragma unroll
    for (int k = 0; k < words; ++k) s.word[k] = Packed<T>::of(piece.word[k]);
    return s;
  }
  __device__ Piece<words> piece() const {
    Piece<words> p;
#pragma unroll
    for (int k = 0; k < words; ++k) p.word[k] = word[k].word();
    return p;
  }
  template <typename Op>
  static __device__ SpreadPiece neutral() {
    SpreadPiece s;
#pragma unroll
    for (int k = 0; k < words; ++k) s.word[k] = Op::template neutral<T>();
    return s;
  }
  /// Combines this piece with another.
  template <typename Op>
  __device__ void add(const SpreadPiece &b) {
#pragma unroll
    for (int k = 0; k < words; ++k) word[k] = Op()(word[k], b.word[k]);
  }
};

}  // namespace cudascan::linearopen
