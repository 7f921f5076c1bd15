// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Means and standard deviations, rounded as swofilter/moments.h defines it.
///
/// Let d be x rounded to the nearest integer, halves up. In general d comes from an estimate in
/// single precision: x (1 - e), rounded to the nearest integer, where e is more than all relative
/// errors. So the estimate is d or d - 1, and integer arithmetic decides between both. Bytes need
/// less, see below.
#pragma once
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "kernels/base/ptx.cuh"

namespace cudascan::windowsums {

/// The estimate of x = v * factor, where v and factor have relative errors of at most 2^-20; x <
/// 2^17.
struct Estimate {
  static constexpr float kLess = 1 - 0x1p-18f;
  unsigned bits;  // plus kZero

  __device__ Estimate(float v, float factor) {
    bits = __float_as_uint(fmaf(v, factor * kLess, kBias));
  }
  __device__ unsigned value() const { return bits - kZero; }

 private:
  // Numbers in single precision whose last bit is 1.
  static constexpr float kBias = 0x1p23f;
  static constexpr unsigned kZero = 0x4b000000;
};

/// sum / n to the nearest integer, halves up; the quotient is below 2^16, n below 2^29.
__device__ inline unsigned rounded_mean(unsigned sum, unsigned n) {
  const unsigned q =
      Estimate(static_cast<float>(sum), reciprocal_approx(static_cast<float>(n))).value();
  return q + (static_cast<int>(2 * (sum - q * n)) >= static_cast<int>(n));
}

/// With a relative error below 2^-22.9.
__device__ inline float to_float(std::uint64_t v) {
  return fmaf(static_cast<float>(static_cast<unsigned>(v >> 32)), 0x1p32f,
              static_cast<float>(static_cast<unsigned>(v)));
}

/// sqrt(variance) / n to the nearest integer, halves up. For up to 65025 samples of 16 bits (or
/// more samples with fewer bits), (2 d + 1) n stays below 2^32 and 4 variance below 2^64.
/// @param variance  N Q - S^2
__device__ inline unsigned rounded_deviation(std::uint64_t variance, unsigned n) {
  const unsigned d =
      Estimate(sqrt_approx(to_float(variance)), reciprocal_approx(static_cast<float>(n))).value();
  const std::uint64_t odd = (2 * d + 1) * n;
  return d + (odd * odd <= 4 * variance);
}

// ---- Of bytes
// ------------------------------------------------------------------------------------

/// The lowest bytes of four words.
__device__ inline unsigned low_bytes(const unsigned (&v)[4]) {
  return __byte_perm(__byte_perm(v[0], v[1], 0x0040), __byte_perm(v[2], v[3], 0x0040), 0x5410);
}

/// The standard deviation of n bytes in single precision, and whether that is enough, which is true
/// for all but about one in some thousand windows.
class ByteDeviation {
 public:
  /// @param inverse_square  1 / n^2, with a relative error of at most 2^-19.7
  /// @param shift           see there
  __device__ ByteDeviation(float inverse_square, int shift)
      : shift_(shift),
        scale_(inverse_square * static_cast<float>(1 << shift)),
        sure_(0.5f - 0x1p-13f - (shift > 0 ? scale_ : 0)) {}

  /// Number of low bits of N Q - S^2 to drop, so that 32 are left, for windows of at most n samples
  /// and at least a quarter of that.
  static int shift(int n) {
    int bits = 9;
    while (1 << bits < n) ++bits;
    return 2 * bits - 18;
  }
  /// The level, in the lowest byte, unless `near` is set.
  /// @param variance  N Q - S^2
  __device__ unsigned estimate(std::uint64_t variance, bool &near) const {
    return estimate_float(static_cast<float>(static_cast<unsigned>(variance >> shift_)), near);
  }
  /// The same from N Q - S^2 without the dropped bits, with a relative error below 2^-22.9.
  __device__ unsigned estimate_float(float variance, bool &near) const {
    // The dropped bits make the square too small by at most scale_, and a root of at least 1/2 by
    // no more than that. Other errors of the root are relative and below 2^-20, and the root is
    // below 128.
    const float root = sqrt_approx(variance * scale_);
    const float rounded = root + kBias;
    near |= fabsf(root - (rounded - kBias)) > sure_;
    return __float_as_uint(rounded);
  }

 private:
  static constexpr float kBias =
      0x1p23f;  // after adding it, the last bit of a number has the value 1

  int shift_;
  float scale_;
  float sure_;  // largest distance from an integer at which that integer is certain
};

/// Means of n bytes: (S + n / 2) / n rounded down, by multiplication with M = 2^(32 + b) / n
/// rounded up. The upper word of the product without its lowest b bits is the result (division by
/// an invariant integer, Granlund and Montgomery 1994). With M n = 2^(32 + b) + e, e < n, the
/// quotient is too large by (S + n / 2) e / n / 2^(32 + b). That does not matter if it is less than
/// 1 / n. Because S + n / 2 is less than 256 n, this holds for b = 0 up to n = 4096 and for b = 8
/// up to n = 65536. M fits for n > 2^b. (For n = 1 it would be 2^32; (S + 1) (2^32 - 1) does the
/// same.)
struct ByteMeans {
  unsigned half, inverse;  // to be added to the sum, M

  ByteMeans() = default;
  /// @param shift  b, 0 or 8
  __device__ ByteMeans(unsigned n, int shift) {
    const float about = reciprocal_approx(static_cast<float>(n)) * Estimate::kLess;
    half = n > 1 ? n / 2 : 1;
    inverse = static_cast<unsigned>((shift > 0 ? 0x1p40f : 0x1p32f) * about);
    // -inverse n is the difference of the product from 2^(32 + b), modulo 2^32.
    inverse += static_cast<unsigned>(static_cast<float>(-inverse * n) * about);
    inverse += (n > 1) + (-inverse * n > n);
  }
  /// b for windows of at most n samples and at least a quarter of that.
  static int shift(int n) { return n <= 4096 ? 0 : 8; }

  /// The upper word of the product with a sum to which `half` was added.
  __device__ unsigned product(unsigned sum) const {
    return static_cast<unsigned>(std::uint64_t{sum} * inverse >> 32);
  }
  __device__ unsigned product_of_sum(unsigned sum) const { return product(sum + half); }
  /// The levels of four products, in the bytes of a word.
  static __device__ unsigned levels(const unsigned (&products)[4], int shift) {
    const unsigned selector = shift > 0 ? 0x51 : 0x40;
    return __byte_perm(__byte_perm(products[0], products[1], selector),
                       __byte_perm(products[2], products[3], selector), 0x5410);
  }
};
/// The same for neighbouring columns, in shared memory.
template <int n>
struct ByteMeanColumns {
  alignas(16) unsigned half[n], inverse[n];

  __device__ void set(int i, const ByteMeans &means) {
    half[i] = means.half;
    inverse[i] = means.inverse;
  }
  __device__ ByteMeans operator[](int i) const {
    ByteMeans means;
    means.half = half[i];
    means.inverse = inverse[i];
    return means;
  }
};

}  // namespace cudascan::windowsums
