// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The inner loops of the CPU implementation of the local thresholds, compiled for several
/// instruction sets. All of them walk along one row.
#pragma once
#include <cstdint>

#include "kernels/nick/formula.h"

namespace cudascan::nick {

/// Pixels of a row that are worked on at a time; what is known about them stays in the L1 cache.
inline constexpr int kBlock = 512;

/// Loops go on to the next multiple of this.
inline constexpr int kPadding = 32;

/// The sums of wide windows do not fit 32 bits. They are kept as two numbers that do: the sum
/// modulo 2^32, and the sum of the columns' sums shifted right by this much. The sum is
/// (high << shift) + difference, and the difference is below width << shift.
inline constexpr int kHighShift = 4;
template <typename T>
inline constexpr int kSquareShift = sizeof(T) == 1 ? kHighShift : 20;

/// Sums over the column of each x as high as the window. `squares` is used for 16 bit only: there
/// `low` and `high` are its parts.
struct Columns {
  std::uint32_t *sum;
  std::uint32_t *low, *high;
  std::uint64_t *squares;
};

/// What is known about the color of a pixel.
using Code = std::uint16_t;
inline constexpr Code kWhite = 1, kUnsure = 2;

/// What is known about the pixels of a block. The results are half as wide as the rest, so that the
/// compiler interleaves two vectors of pixels: their long chains of dependent operations overlap.
struct alignas(64) Block {
  std::uint32_t value[kBlock];
  std::uint32_t sum[kBlock], sum_high[kBlock], low[kBlock], high[kBlock];
  float variance[kBlock];
  std::uint16_t level[kBlock];
  Code code[kBlock];
};

/// The sizes of the windows of a block. Loops over blocks work on whole vectors: up to kPadding - 1
/// elements after the n-th are read and written in vain.
struct Pixels {
  const std::uint32_t *count;  ///< N
  const float *inverse;        ///< 1 / N
  int n;
};

/// A Formula in floating-point numbers.
struct Weights {
  double k;
  double slope;  ///< k/r or k/max s
  double boost;  ///< phansalkar: -10/max, for a power of two
  int base;      ///< wolf: the minimum
  int maximum;
};

/// Errors are below this times the terms of which T - m is the sum, and times the squares that nick
/// and niblack compare. In single precision, u = 2^-24 a rounding: 1/N is off by u, m - center by
/// 3, p - m by 4, its square by 10; sum (p - center)^2 by 2 and N (m - center)^2 by 5, and s^2, of
/// which they are at most 2.1 and 1.1 times, by 13; sum p^2 by 2 and m^2 by 5, and the radicand of
/// nick, of which they are at most 2 times and once (N >= 2), by 13. Weights and their products add
/// 5 at most, and 2^-19 is 32.
template <typename Real>
inline constexpr Real kTolerance = sizeof(Real) > 4 ? 0x1p-36 : 0x1p-19;

template <typename T>
struct Rows {
  /// Moves the columns down by a row: `in` enters, `out` leaves.
  void (*slide)(Columns, const T *in, const T *out, int n);

  /// Sum of columns[x] >> shift; shift is 0 or kHighShift.
  std::uint32_t (*total)(const std::uint32_t *columns, int shift, int n);

  /// window[i] = carry + sum of (lead[j] >> shift) - (trail[j] >> shift) over j <= i; returns the
  /// last. Works on whole vectors: reads and writes up to kPadding - 1 elements more than n.
  std::uint32_t (*scan)(const std::uint32_t *lead, const std::uint32_t *trail, int shift, int n,
                        std::uint32_t carry, std::uint32_t *window);

  /// Fills in the sizes of the windows of a row that are `rows` high.
  void (*count_pixels)(int width, int rx, int rows, std::uint32_t *count, float *inverse);

  // Decisions from the sums. wide: whether the high parts count; those of the squares of 16-bit
  // samples always do.

  /// Fills in the codes; returns whether one is unsure.
  bool (*decide)(NickMethod, bool wide, const Weights &, const Pixels &, Block &);
  /// Fills in the levels of the threshold surface and the codes; returns whether one is unsure.
  bool (*levels)(NickMethod, bool wide, const Weights &, const Pixels &, Block &);
  /// Fills in the variances, right to kTolerance; returns the largest.
  float (*variances)(bool wide, const Pixels &, Block &);

  std::uint32_t (*smallest)(const T *, int n);

  void (*widen)(const T *from, int n, std::uint32_t *to);
  void (*narrow)(const std::uint16_t *from, int n, T *to);
  /// Writes white where the code says so, else black.
  void (*paint)(const Code *code, int n, T black, T white, T *out);
  int (*count_white)(const Code *code, int n);
};

/// The loops for the processor that runs.
template <typename T>
const Rows<T> &rows();

}  // namespace cudascan::nick
