// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The inner loops of the CPU implementation of the local thresholds, compiled for several
/// instruction sets. Each processes one row.
#pragma once
#include <cstdint>

#include "kernels/nick/formula.h"

namespace cudascan::nick {

/// Pixels of a row processed at a time; their data stays in the L1 cache.
inline constexpr int kBlock = 512;

/// Loops continue to the next multiple of this.
inline constexpr int kPadding = 32;

/// The sums of wide windows do not fit into 32 bits. They are stored as two 32-bit numbers: the sum
/// modulo 2^32, and the sum of the columns' sums shifted right by this much. The sum is (high <<
/// shift) + difference, and the difference is below width << shift.
inline constexpr int kHighShift = 4;
template <typename T>
inline constexpr int kSquareShift = sizeof(T) == 1 ? kHighShift : 20;

/// Sums over the column of each x, as high as the window. `squares` is used only for 16 bits, where
/// `low` and `high` are its parts.
struct ColumnTotals {
  std::uint32_t *sum;
  std::uint32_t *low, *high;
  std::uint64_t *squares;
};

/// Decision about a pixel.
using Code = std::uint16_t;
inline constexpr Code kWhite = 1, kUnsure = 2;

/// Data of the pixels of a block. The results are half as wide as the rest, so the compiler
/// interleaves two vectors of pixels, and their long chains of dependent operations overlap.
struct alignas(64) Block {
  std::uint32_t value[kBlock];
  std::uint32_t sum[kBlock], sum_high[kBlock], low[kBlock], high[kBlock];
  float variance[kBlock];
  std::uint16_t level[kBlock];
  Code code[kBlock];
};

/// The sizes of the windows of a block. Loops over blocks use whole vectors: they also read and
/// write up to kPadding - 1 unused elements after the n-th.
struct Pixels {
  const std::uint32_t *count;  ///< N
  const float *inverse;        ///< 1 / N
  int n;
};

/// A Formula in floating-point numbers.
struct FormulaWeights {
  double k;
  double slope;  ///< k/r or k/max s
  double boost;  ///< phansalkar: -10/max, for a power of two
  int base;      ///< wolf: the minimum
  int maximum;
};

/// Errors are below this times the terms whose sum is T - m, and below this times the squares that
/// nick and niblack compare. In single precision, with u = 2^-24 per rounding, the relative errors
/// in u are: 1 for 1/N, 3 for m - center, 4 for p - m, 10 for its square; 2 for sum (p - center)^2,
/// 5 for N (m - center)^2, and 13 for s^2 (the two are at most 2.1 and 1.1 times s^2); 2 for sum
/// p^2, 5 for m^2, and 13 for the radicand of nick (they are at most 2 times and once the radicand,
/// N >= 2). Weights and their products add at most 5, and 2^-19 is 32 u.
template <typename Real>
inline constexpr Real kTolerance = sizeof(Real) > 4 ? 0x1p-36 : 0x1p-19;

template <typename T>
struct NickRows {
  /// Moves the columns down by a row: adds `in`, subtracts `out`.
  void (*slide)(ColumnTotals, const T *in, const T *out, int n);

  /// Sum of columns[x] >> shift; shift is 0 or kHighShift.
  std::uint32_t (*total)(const std::uint32_t *columns, int shift, int n);

  /// window[i] = carry + sum of (lead[j] >> shift) - (trail[j] >> shift) over j <= i; returns the
  /// last. Works on whole vectors: reads and writes up to kPadding - 1 elements more than n.
  std::uint32_t (*scan)(const std::uint32_t *lead, const std::uint32_t *trail, int shift, int n,
                        std::uint32_t carry, std::uint32_t *window);

  /// Fills in the sizes of the windows of a row that are `rows` high.
  void (*count_pixels)(int width, int rx, int rows, std::uint32_t *count, float *inverse);

  // Decisions from the sums. wide: whether the high parts count; for squares of 16-bit samples they
  // always do.

  /// Fills in the codes; returns whether one is unsure.
  bool (*decide)(NickMethod, bool wide, const FormulaWeights &, const Pixels &, Block &);
  /// Fills in the levels of the threshold surface and the codes; returns whether one is unsure.
  bool (*levels)(NickMethod, bool wide, const FormulaWeights &, const Pixels &, Block &);
  /// Fills in the variances, right to kTolerance; returns the largest.
  float (*variances)(bool wide, const Pixels &, Block &);

  std::uint32_t (*smallest)(const T *, int n);

  void (*widen)(const T *from, int n, std::uint32_t *to);
  void (*narrow)(const std::uint16_t *from, int n, T *to);
  /// Writes white or black according to the codes.
  void (*paint)(const Code *code, int n, T black, T white, T *out);
  int (*count_white)(const Code *code, int n);
};

/// The loops for this processor.
template <typename T>
const NickRows<T> &rows();

}  // namespace cudascan::nick
