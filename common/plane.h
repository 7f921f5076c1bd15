// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "common/api.h"

namespace cudascan {

/// A view of one plane of samples, in host or in device memory. It does not own them.
///
/// @tparam T  std::uint8_t or std::uint16_t, const for an input
template <typename T>
struct Plane {
  using Sample = std::remove_const_t<T>;

  T *data;     ///< first sample of the first row, aligned to sizeof(T)
  int width;   ///< samples in a row, 1..32768
  int height;  ///< rows, 1..32768
  std::ptrdiff_t
      stride;  ///< bytes from row to row, at least width * sizeof(T); a multiple of sizeof(T)
  /// Largest sample of the format: 255 for 8 bits, 1023 for 10 bits in the low bits of 16, 0xffc0
  /// for 10 bits in the high bits. It is white in black-and-white results; settings in 8-bit levels
  /// are scaled by it.
  Sample maximum = std::numeric_limits<Sample>::max();
  /// Nominal black and white: 16 and 235 in 8-bit limited-range video, otherwise 0 and `maximum`.
  Sample black = 0, white = maximum;

  CUDASCAN_HD T *row(int y) const {
    using Byte = std::conditional_t<std::is_const_v<T>, const unsigned char, unsigned char>;
    return reinterpret_cast<T *>(reinterpret_cast<Byte *>(data) + y * stride);
  }

  /// An output plane converts to an input plane.
  template <typename U>
  requires(std::is_same_v<U, const T> && !std::is_const_v<T>) operator Plane<U>() const {
    return {data, width, height, stride, maximum, black, white};
  }
};

/// Number of bits of a sample of this range: 8 for 255, 10 for 1023, 16 for 0xffc0.
constexpr CUDASCAN_HD int bit_depth(unsigned maximum) {
  int bits = 0;
  for (; maximum; maximum >>= 1) ++bits;
  return bits;
}

/// Number of unused low bits of a format: 0 for 255 and 1023, 6 for 0xffc0.
constexpr CUDASCAN_HD int unused_low_bits(unsigned maximum) {
  int bits = 0;
  for (; maximum && maximum % 2 == 0; maximum >>= 1) ++bits;
  return bits;
}

}  // namespace cudascan
