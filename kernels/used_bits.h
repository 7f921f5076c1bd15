// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Which bits of their 16-bit words samples use. Cameras of 10, 12 or 14 bits store small numbers,
/// aligned to the low end of the word, or numbers shifted to the high end; formats such as
/// GRAY16_LE do not tell. find_used_bits() measures a plane and bit_range() concludes from that.
///
/// Exactness: CPU and CUDA results are identical.
#pragma once
#include <cstdint>

#include "kernels/exec.h"

namespace cudascan {

/// Measures the bits that are 1 in some sample of a plane. On Cuda it only queues the work.
/// @throws BadSetting for an invalid plane; Error when CUDA fails
CUDASCAN_API void find_used_bits(Cpu &, Plane<const std::uint16_t> in);
CUDASCAN_API void find_used_bits(Cuda &, Plane<const std::uint16_t> in);

/// The result of the latest find_used_bits() on this executor: the OR of all samples. It is 0
/// before the first. On Cuda it waits for that measurement, not for work that was queued later.
CUDASCAN_API unsigned used_bits(Cpu &);
CUDASCAN_API unsigned used_bits(Cuda &);

/// The end of the word that samples are aligned to.
enum class BitAlignment {
  automatic,  ///< as the samples tell
  low,        ///< the high bits are 0: 12-bit samples are 0 to 4095
  high,       ///< the low bits are 0: 12-bit samples are multiples of 16
};

/// What is known about the samples in advance.
struct SignificantBits {
  int count = 16;  ///< 8 to 16, or 0: as the samples tell
  BitAlignment alignment = BitAlignment::automatic;

  /// Whether bit_range() needs the used bits.
  bool are_measured() const {
    return count == 0 || (count < 16 && alignment == BitAlignment::automatic);
  }
};

/// The bits of a word that samples have.
struct BitRange {
  int count = 16;     ///< 8 to 16
  bool high = false;  ///< the high ones; false for all 16

  int shift() const { return high ? 16 - count : 0; }
  friend bool operator==(const BitRange &, const BitRange &) = default;
};

/// Decides on the bits of samples.
///
/// An unknown number of bits becomes the smallest of 8, 10, 12, 14 and 16 that has room for the
/// used bits. If the two lowest bits or more are unused, samples are aligned high: a dark picture
/// uses few of the high bits, but noise uses every low bit that a camera has. Otherwise they are
/// aligned low if the two highest bits or more are unused, and have 16 bits if neither are.
/// Nothing is known of black pictures, which are taken as 16 bits.
///
/// Of a known number of bits, samples are aligned high if all bits below are unused, or if bits
/// above are used, which a low alignment would cut off.
///
/// A picture of 16 bits that is dark by chance looks like one of fewer bits. So let `used` be the
/// OR of all pictures of a stream.
///
/// @param used  of used_bits()
/// @throws BadSetting for a count other than 0 and 8 to 16
CUDASCAN_API BitRange bit_range(const SignificantBits &, unsigned used);

/// A plane of 16-bit samples as one of these bits: with their maximum, black and white.
template <typename T>
requires(sizeof(T) == 2) Plane<T> with_bits(Plane<T> plane, const BitRange &range) {
  const auto narrowed = [&](unsigned sample) {
    return static_cast<std::uint16_t>(sample >> (16 - range.count) << range.shift());
  };
  plane.maximum = narrowed(plane.maximum);
  plane.black = narrowed(plane.black);
  plane.white = narrowed(plane.white);
  return plane;
}

}  // namespace cudascan
