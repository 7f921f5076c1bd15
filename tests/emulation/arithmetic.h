// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Arithmetic functions of CUDA that C++ does not have, for cuda_runtime.h.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

inline int __popc(unsigned v) {
  return __builtin_popcount(v);
}
inline unsigned __brev(unsigned v) {
  unsigned result = 0;
  for (int i = 0; i < 32; ++i) result |= (v >> i & 1) << (31 - i);
  return result;
}
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
  const std::uint64_t bytes = std::uint64_t{b} << 32 | a;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned from = selector >> 4 * i & 7;
    result |= static_cast<unsigned>(bytes >> 8 * from & 0xff) << 8 * i;
  }
  return result;
}
/// For each byte, or each half, of a that is not less than that of b: all bits 1, otherwise 0.
inline unsigned __vcmpgeu4(unsigned a, unsigned b) {
  unsigned result = 0;
  for (unsigned mask = 0xff; mask; mask <<= 8) result |= (a & mask) >= (b & mask) ? mask : 0;
  return result;
}
inline unsigned __vcmpgeu2(unsigned a, unsigned b) {
  unsigned result = 0;
  for (unsigned mask = 0xffff; mask; mask <<= 16) result |= (a & mask) >= (b & mask) ? mask : 0;
  return result;
}
/// The smaller, or the larger, of each pair of halves.
inline unsigned __vminu2(unsigned a, unsigned b) {
  return std::min(a & 0xffff, b & 0xffff) | std::min(a >> 16, b >> 16) << 16;
}
inline unsigned __vmaxu2(unsigned a, unsigned b) {
  return std::max(a & 0xffff, b & 0xffff) | std::max(a >> 16, b >> 16) << 16;
}
inline unsigned __vimin3_u16x2(unsigned a, unsigned b, unsigned c) {
  return __vminu2(__vminu2(a, b), c);
}
inline unsigned __vimax3_u16x2(unsigned a, unsigned b, unsigned c) {
  return __vmaxu2(__vmaxu2(a, b), c);
}
inline int __ffs(unsigned v) {
  return __builtin_ffs(static_cast<int>(v));
}
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(std::uint64_t{a} * b >> 32);
}
inline int __clz(unsigned v) {
  return v ? __builtin_clz(v) : 32;
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((std::uint64_t{high} << 32 | low) >> (shift & 31));
}
/// The upper half of (high:low) << shift; the shift is limited to 32.
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  shift %= 32;
  return shift == 0 ? high : high << shift | low >> (32 - shift);
}
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((std::uint64_t{high} << 32 | low) << std::min(shift, 32u) >> 32);
}
/// sum plus the sum of the products of bytes.
inline unsigned __dp4a(unsigned a, unsigned b, unsigned sum) {
  for (int i = 0; i < 32; i += 8) sum += (a >> i & 0xff) * (b >> i & 0xff);
  return sum;
}
inline float __fsqrt_rn(float v) {
  return std::sqrt(v);
}
/// a + b, rounded towards 0.
inline float __fadd_rz(float a, float b) {
  const double exact = double{a} + b;
  const auto nearest = static_cast<float>(exact);
  return std::abs(nearest) > std::abs(exact) ? std::nextafter(nearest, 0.0f) : nearest;
}
inline unsigned __float_as_uint(float v) {
  return __builtin_bit_cast(unsigned, v);
}
inline float __uint_as_float(unsigned v) {
  return __builtin_bit_cast(float, v);
}
inline int __double2loint(double v) {
  return static_cast<int>(__builtin_bit_cast(std::uint64_t, v));
}
inline int __double2hiint(double v) {
  return static_cast<int>(__builtin_bit_cast(std::uint64_t, v) >> 32);
}
inline double __hiloint2double(int high, int low) {
  return __builtin_bit_cast(
      double, std::uint64_t{static_cast<unsigned>(high)} << 32 | static_cast<unsigned>(low));
}
