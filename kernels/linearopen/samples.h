// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Converts samples to unsigned integers for minima and maxima, and back, for both backends.
///
/// 8- and 16-bit samples are unchanged; float becomes 32 bits in the order of IEEE 754 totalOrder,
/// infinities and NaN included. A closing is the complement of the opening of the complement:
/// samples are XORed with `flip`, 0 for an opening and all ones for a closing.
#pragma once
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/linearopen.h"

namespace cudascan::linearopen {

/// Integers of the size of a sample.
template <typename Sample>
using Ordered = std::conditional_t<std::is_same_v<Sample, float>, std::uint32_t, Sample>;

/// XORed with ordered integers.
template <typename T>
constexpr CUDASCAN_HD T flip_of(LinearOpenOperation operation) {
  const bool closing =
      operation == LinearOpenOperation::closing || operation == LinearOpenOperation::black_hat;
  return static_cast<T>(closing ? ~T{0} : T{0});
}
constexpr CUDASCAN_HD bool is_difference(LinearOpenOperation operation) {
  return operation == LinearOpenOperation::top_hat || operation == LinearOpenOperation::black_hat;
}

/// An angle in an orientation map: whole degrees, 0..179, halves rounded up.
inline int degree_of(double angle) {
  return (static_cast<int>(std::floor(angle + 0.5)) % 180 + 180) % 180;
}

/// The rank of a float, given as its bits, among all floats.
constexpr CUDASCAN_HD std::uint32_t ordered_of_bits(std::uint32_t bits) {
  return bits ^ (bits >> 31 ? 0xffffffffu : 0x80000000u);
}
constexpr CUDASCAN_HD std::uint32_t bits_of_ordered(std::uint32_t ordered) {
  return ordered ^ (ordered >> 31 ? 0x80000000u : 0xffffffffu);
}

/// The contribution of a float to a spectrum, in units of 1/65536, halves rounded up. It is clamped
/// to -131071..131071, so that the sum over an image fits; NaN counts as -131071.
inline CUDASCAN_HD std::int64_t spectrum_units(float value) {
  constexpr float kMost = 131071;
  const float limited = !(value > -kMost) ? -kMost : value < kMost ? value : kMost;
  // A multiple of 2^-149 below 2^17: the addition rounds only where that cannot affect a half.
  const double units = static_cast<double>(limited) * 65536 + 0.5;
  const auto whole = static_cast<std::int64_t>(units);
  return whole - (static_cast<double>(whole) > units ? 1 : 0);
}

}  // namespace cudascan::linearopen
