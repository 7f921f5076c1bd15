// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The inner loops of the CPU implementation of the local thresholds, compiled for several
/// instruction sets. All of them walk along one row.
#pragma once
#include <cstdint>

#include "kernels/nick_formula.h"

namespace cudascan::nick {

/// Pixels of a row that are worked on at a time; what is known about them stays in the L1 cache.
inline constexpr int kBlock = 512;

/// A vector load may start at any column and read this many past it.
inline constexpr int kLanes = 16;

/// The sums of wide windows do not fit 32 bits. They are kept as two numbers that do: the sum modulo
/// 2^32, and the sum of the columns' sums shifted right by this much. The sum is
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

/// What is known about the pixels of a block.
struct alignas(64) Block {
  std::uint32_t sum[kBlock], sum_high[kBlock], low[kBlock], high[kBlock];
  float deviation[kBlock];  ///< p - m
  float mean[kBlock];       ///< m - base
  float spread[kBlock];     ///< s^2; (sum p^2 - m^2) / N for the method nick
  std::uint16_t level[kBlock];
  std::uint8_t code[kBlock];  ///< kWhite, kUnsure
};
inline constexpr std::uint8_t kWhite = 1, kUnsure = 2;

/// What moments() computes of a block.
enum class Moments { mean, energy, variance };

/// Pixels and their windows, as moments() wants them.
template <typename T>
struct Pixels {
  const T *value;
  const std::uint32_t *count;  ///< N
  const float *inverse;        ///< 1 / N
  int n;
};

/// T - m = k spread^(1/2) and so on, in single precision.
struct Weights {
  float k;
  float slope;  ///< k/r or k/max s
  float boost;  ///< phansalkar: -10/max, as a power of two
  float maximum;
};

struct Rows {
  /// Moves the columns down by a row: `in` enters, `out` leaves.
  void (*slide8)(Columns, const std::uint8_t *in, const std::uint8_t *out, int n);
  void (*slide16)(Columns, const std::uint16_t *in, const std::uint16_t *out, int n);

  /// Sum of columns[x] >> shift; shift is 0 or kHighShift.
  std::uint32_t (*total)(const std::uint32_t *columns, int shift, int n);

  /// window[i] = carry + sum of (lead[j] >> shift) - (trail[j] >> shift) over j <= i; returns the
  /// last. Works on whole vectors: reads and writes up to kLanes - 1 elements more than n.
  std::uint32_t (*scan)(const std::uint32_t *lead, const std::uint32_t *trail, int shift, int n,
                        std::uint32_t carry, std::uint32_t *window);

  /// Fills in the sizes of the windows of a row that are `rows` high.
  void (*count_pixels)(int width, int rx, int rows, std::uint32_t *count, float *inverse);

  /// Fills in deviation, mean and spread from the sums.
  /// @param wide_sum, wide_square  the high parts count
  void (*moments8)(Moments, bool wide_square, const Pixels<std::uint8_t> &, int base, Block &);
  void (*moments16)(Moments, bool wide_sum, const Pixels<std::uint16_t> &, int base, Block &);

  /// Fills in the codes; returns whether one is unsure.
  bool (*decide)(NickMethod, const Weights &, int n, Block &);
  /// Fills in the levels of the threshold surface and the codes; returns whether one is unsure.
  bool (*levels)(NickMethod, const Weights &, int base, int n, Block &);

  float (*largest)(const float *, int n);
  std::uint32_t (*smallest8)(const std::uint8_t *, int n);
  std::uint32_t (*smallest16)(const std::uint16_t *, int n);

  /// Writes white where the code says so, else black.
  void (*paint8)(const std::uint8_t *code, int n, std::uint8_t black, std::uint8_t white,
                 std::uint8_t *out);
  void (*paint16)(const std::uint8_t *code, int n, std::uint16_t black, std::uint16_t white,
                  std::uint16_t *out);
  int (*count_white)(const std::uint8_t *code, int n);
};

/// The loops for the processor that runs.
const Rows &rows();

}  // namespace cudascan::nick
