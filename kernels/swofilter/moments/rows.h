// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The inner loops of mean and standard deviation on the CPU, compiled for several instruction
/// sets. Each processes one row in levels. Sums are exact: sums of samples, and of squares of 8-bit
/// samples, fit into 32 bits; sums of squares of 16-bit samples are integers below 2^53 in doubles.
#pragma once
#include <cstdint>
#include <type_traits>

namespace cudascan::swo::sums {

/// Pixels processed at a time; their data stays in the L1 cache.
inline constexpr int kBlock = 512;
/// Elements after the last one that loops may read and write, where stated.
inline constexpr int kSlack = 16;
/// The same for add() and add_squares().
inline constexpr int kTermSlack = 128;

template <typename T>
using Square = std::conditional_t<sizeof(T) == 1, std::uint32_t, double>;
template <typename T>
using Real = std::conditional_t<sizeof(T) == 1, float, double>;
/// Type of sums of squares and of their differences, which may wrap around.
template <typename T>
using Integral = std::conditional_t<sizeof(T) == 1, std::uint32_t, std::uint64_t>;

/// Type of the square of a sample, as it is kept.
template <typename T>
using SampleSquare = std::conditional_t<sizeof(T) == 1, std::uint16_t, std::uint32_t>;

/// Sizes of windows.
template <typename T>
struct Sizes {
  const std::int32_t *count;
  const Real<T> *inverse;  ///< 1 / count
};

/// Positions in rows that are added or subtracted.
template <typename E>
struct Terms {
  const E *const *plus, *const *minus;
  int pluses, minuses;
};

template <typename T>
struct MomentLoops {
  /// Moves sums over columns down by a row: adds `enters`, subtracts `leaves`.
  /// @param shift  unused low bits
  void (*slide)(const T *enters, const T *leaves, int n, int shift, std::uint32_t *sums);
  void (*slide_squares)(const T *enters, const T *leaves, int n, int shift, Square<T> *squares);

  /// window[i] = carry + sum of lead[j] - trail[j] over j <= i; returns that of n - 1. Uses kSlack.
  std::uint32_t (*scan)(const std::uint32_t *lead, const std::uint32_t *trail, int n,
                        std::uint32_t carry, std::uint32_t *window);
  Square<T> (*scan_squares)(const Square<T> *lead, const Square<T> *trail, int n, Square<T> carry,
                            Square<T> *window);

  /// The squares of levels.
  void (*square)(const T *levels, int n, SampleSquare<T> *squares);
  /// Adds terms to sums. Uses kTermSlack.
  void (*add)(const Terms<T> &, int n, std::uint32_t *sums);
  void (*add_squares)(const Terms<SampleSquare<T>> &, int n, Integral<T> *sums);

  /// Results from sums, shifted left by `shift`. Deviations that are too close to a tie are marked
  /// with 1, others with 0; returns whether there are any.
  void (*means)(const std::uint32_t *sums, const Sizes<T> &, int n, int shift, T *out);
  bool (*deviations)(const std::uint32_t *sums, const Square<T> *squares, const Sizes<T> &, int n,
                     int shift, T *out, std::uint8_t *unsure);
};

/// The loops for this processor.
template <typename T>
const MomentLoops<T> &loops();

}  // namespace cudascan::swo::sums
